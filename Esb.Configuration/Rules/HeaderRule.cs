using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;
using Esb.Core.Messages;

namespace Esb.Configuration.Rules;

/// <summary>Refuses header patterns that no header can match, and header changes that cannot be made.</summary>
internal static class HeaderRule
{
    // Headers that frame a message on a connection, belong to one hop, or repeat what the message carries otherwise.
    private static readonly string[] WrittenByTheBus =
    [
        "Connection",
        "Content-Length",
        "Content-Type",
        "Expect",
        "Host",
        "Keep-Alive",
        "Proxy-Authenticate",
        "Proxy-Authorization",
        "Proxy-Connection",
        "TE",
        "Trailer",
        "Transfer-Encoding",
        "Upgrade",
        "traceparent",
        "tracestate",
        "baggage",
    ];

    public static void Check(EndpointConfig endpoint, ConfigErrors errors)
    {
        foreach (var pattern in endpoint.Headers)
            CheckPattern(pattern, endpoint, "headers", errors);
        if (endpoint is not IRewritesHeaders rewriting)
            return;
        Check(rewriting.RewriteHeaders, errors);
        Check(rewriting.RewriteAnswerHeaders, errors);
    }

    private static void Check(HeaderRewriteConfig rewrite, ConfigErrors errors)
    {
        foreach (var pattern in rewrite.Remove)
            CheckPattern(pattern, rewrite, "remove", errors);
        foreach (var (name, other) in rewrite.Rename)
        {
            CheckName(name, rewrite, "rename", errors);
            CheckName(other, rewrite, "rename", errors);
        }

        foreach (var (name, value) in rewrite.Set)
        {
            CheckName(name, rewrite, "set", errors);
            if (!HeaderRules.IsValue(value))
                Refuse(rewrite, "set", $"the value of '{Clipped.To(40, Clipped.Name(name))}' is more than one line of text", errors);
        }

        CheckTwins(rewrite.Rename.Keys, rewrite, "rename", errors);
        CheckTwins(rewrite.Set.Keys, rewrite, "set", errors);
    }

    private static void CheckPattern(string pattern, SettingsRecord settings, string property, ConfigErrors errors)
    {
        var name = pattern.EndsWith('*') ? pattern[..^1] : pattern;
        if (name.Contains('*', StringComparison.Ordinal) || (pattern != "*" && !HeaderRules.IsName(name)))
            Refuse(
                settings,
                property,
                $"'{Clipped.To(40, Clipped.Name(pattern))}' is neither the name of a header nor the beginning of one followed by *",
                errors
            );
        else if (HeaderRules.IsReserved(name))
            Refuse(
                settings,
                property,
                $"'{Clipped.To(40, pattern)}' is reserved for the bus and its broker, and never crosses a boundary",
                errors
            );
    }

    private static void CheckName(string name, HeaderRewriteConfig rewrite, string property, ConfigErrors errors)
    {
        if (!HeaderRules.IsName(name))
            Refuse(rewrite, property, $"'{Clipped.To(40, Clipped.Name(name))}' is not the name of a header", errors);
        else if (HeaderRules.IsReserved(name))
            Refuse(
                rewrite,
                property,
                $"'{Clipped.To(40, name)}' is reserved for the bus and its broker, and never crosses a boundary",
                errors
            );
        else if (WrittenByTheBus.Contains(name, StringComparer.OrdinalIgnoreCase))
            Refuse(
                rewrite,
                property,
                $"'{name}' is written by the bus itself: it says how the body is sent, or belongs to the connection or the trace",
                errors
            );
    }

    private static void CheckTwins(IEnumerable<string> names, HeaderRewriteConfig rewrite, string property, ConfigErrors errors)
    {
        foreach (var twins in names.GroupBy(name => name, StringComparer.OrdinalIgnoreCase).Where(group => group.Count() > 1))
            Refuse(
                rewrite,
                property,
                $"'{Clipped.To(40, twins.First())}' is there twice; case does not matter in names of headers",
                errors
            );
    }

    private static void Refuse(SettingsRecord settings, string property, string expected, ConfigErrors errors) =>
        errors.Add("ESB-CFG-HEADER", settings, property, expected);
}
