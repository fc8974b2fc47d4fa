using System.Text;

namespace Esb.Content;

/// <summary>The charsets that are known here: those of .NET, code pages such as <c>windows-1252</c> among them. UTF-7 is none, as it can hide what a text says.</summary>
public static class Charsets
{
    /// <summary>The encoding of a name, which refuses bytes that it does not have; null where the name is not known.</summary>
    public static Encoding? Find(string name)
    {
        if (name.Equals("utf8", StringComparison.OrdinalIgnoreCase)) name = "utf-8"; // a common mistake, that leaves no doubt
        try
        {
            return CodePagesEncodingProvider.Instance.GetEncoding(name, EncoderFallback.ExceptionFallback, DecoderFallback.ExceptionFallback)
                ?? Encoding.GetEncoding(name, EncoderFallback.ExceptionFallback, DecoderFallback.ExceptionFallback);
        }
        catch (Exception ex) when (ex is ArgumentException or NotSupportedException)
        {
            return null;
        }
    }
}
