using System.Net;
using System.Security;
using System.Text.Encodings.Web;
using Esb.Core.Audit;

namespace Esb.Content.Masking;

/// <summary>Collects the secrets that are found while one message is masked. Not thread-safe.</summary>
internal sealed class MaskFindings
{
    private readonly Dictionary<string, string> _secrets = [];

    public MaskedSecrets Secrets => MaskedSecrets.From(_secrets);

    /// <summary>Adds a secret, also as JSON, XML and forms write it: texts may quote the body.</summary>
    /// <param name="value">What it was.</param>
    /// <param name="masked">What stands in its place; null where nothing does.</param>
    public void Add(string value, string? masked)
    {
        var secret = value.Trim();
        if (secret.Length == 0)
            return;
        masked ??= ValueMask.Hidden;
        foreach (var written in WritingsOf(secret))
            _secrets[written] = masked;
        _secrets[value] = masked;
    }

    private static string[] WritingsOf(string secret) =>
        [
            secret,
            JavaScriptEncoder.Default.Encode(secret),
            JavaScriptEncoder.UnsafeRelaxedJsonEscaping.Encode(secret),
            SecurityElement.Escape(secret),
            secret
                .Replace("&", "&amp;", StringComparison.Ordinal)
                .Replace("<", "&lt;", StringComparison.Ordinal)
                .Replace(">", "&gt;", StringComparison.Ordinal),
            WebUtility.HtmlEncode(secret),
            WebUtility.UrlEncode(secret),
            Uri.EscapeDataString(secret),
        ];
}
