using System.Text;

namespace Esb.Content;

/// <summary>The known charsets: those of .NET, including code pages such as <c>windows-1252</c>. UTF-7 is excluded, because it can hide the
/// content of a text.</summary>
public static class Charsets
{
    /// <summary>The encoding with a name, which refuses invalid bytes; null if the name is unknown.</summary>
    public static Encoding? Find(string name)
    {
        if (name.Equals("utf8", StringComparison.OrdinalIgnoreCase))
            name = "utf-8"; // a common mistake, and unambiguous
        try
        {
            return CodePagesEncodingProvider.Instance.GetEncoding(
                    name,
                    EncoderFallback.ExceptionFallback,
                    DecoderFallback.ExceptionFallback
                ) ?? Encoding.GetEncoding(name, EncoderFallback.ExceptionFallback, DecoderFallback.ExceptionFallback);
        }
        catch (Exception ex) when (ex is ArgumentException or NotSupportedException)
        {
            return null;
        }
    }
}
