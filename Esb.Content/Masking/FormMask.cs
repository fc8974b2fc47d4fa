using System.Net;
using System.Text;
using Esb.Core.Messages;

namespace Esb.Content.Masking;

/// <summary>A rule for values that have names: fields of forms, headers.</summary>
internal sealed record NameRule(string Pattern, MaskAction Action)
{
    /// <summary>What is done to the value of a name; null where nothing is.</summary>
    public static MaskAction? For(string name, IReadOnlyList<NameRule> rules)
    {
        MaskAction? action = null;
        foreach (var rule in rules)
        {
            if (HeaderRules.Matches(rule.Pattern, name) && !(action >= rule.Action))
                action = rule.Action;
        }

        return action;
    }
}

/// <summary>Masks forms: <c>application/x-www-form-urlencoded</c> (URL Standard, section 5.1). Thread-safe.</summary>
internal sealed class FormMask(IReadOnlyList<NameRule> rules, ValueMask values)
{
    private static readonly UTF8Encoding Strict = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    /// <summary>The form as it may be recorded; the same bytes where no rule names a field of it.</summary>
    /// <exception cref="MaskException">It is no text.</exception>
    public ReadOnlyMemory<byte> Apply(MessageBody body, MaskFindings findings)
    {
        var isChanged = false;
        var kept = new List<string>();
        foreach (var field in TextOf(body.Bytes).Split('&'))
        {
            var at = field.IndexOf('=', StringComparison.Ordinal);
            var (name, value) = at < 0 ? (field, "") : (field[..at], field[(at + 1)..]);
            if (NameRule.For(WebUtility.UrlDecode(name).Trim(), rules) is not { } action)
            {
                kept.Add(field);
                continue;
            }

            isChanged = true;
            var decoded = WebUtility.UrlDecode(value);
            var masked = values.Apply(action, decoded);
            findings.Add(decoded, masked);
            findings.Add(value, masked);
            if (masked is not null)
                kept.Add($"{name}={Uri.EscapeDataString(masked)}");
        }

        return isChanged ? Encoding.UTF8.GetBytes(string.Join('&', kept)) : body.Bytes;
    }

    private static string TextOf(ReadOnlyMemory<byte> bytes)
    {
        try
        {
            return Strict.GetString(bytes.Span);
        }
        catch (DecoderFallbackException)
        {
            throw new MaskException("The form is not text in UTF-8.");
        }
    }
}
