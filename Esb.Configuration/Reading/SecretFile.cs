using System.Text;
using Esb.Core.Configuration;
using Esb.Core.Storage;

namespace Esb.Configuration.Reading;

/// <summary>A file that <c>${file:…}</c> names: small, text, and not accessible to everyone.</summary>
internal static class SecretFile
{
    private const int MaxBytes = 1024 * 1024;

    private static readonly UTF8Encoding Utf8 = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    /// <summary>Returns the text of the file without its final line break, or the reason why it cannot be used.</summary>
    public static (string? Content, string? Fault) Read(string path)
    {
        try
        {
            if (FaultOf(path) is { } fault)
                return (null, fault);
            var content = Utf8.GetString(File.ReadAllBytes(path)).TrimStart('\uFEFF').TrimEnd('\r', '\n');
            return content.Length == 0 ? (null, "is empty") : (content, null);
        }
        catch (DecoderFallbackException)
        {
            return (null, "is not UTF-8");
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            return (null, "cannot be read");
        }
    }

    private static string? FaultOf(string path)
    {
        if (Directory.Exists(path))
            return "is a directory";
        if (!File.Exists(path))
            return "does not exist";
        var file = new FileInfo(path);
        var target = file.ResolveLinkTarget(returnFinalTarget: true) as FileInfo ?? file; // secrets are often mounted as links
        if (target.Length > MaxBytes)
            return $"is larger than {new ByteSize(MaxBytes)}";
        return OwnerFile.FaultOf(path);
    }
}
