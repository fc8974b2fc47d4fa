using System.Text;
using System.Text.RegularExpressions;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Processes;

namespace Esb.Content.Expressions;

/// <summary>The path of an HTTP request, with places for values such as <c>/customers/{property.id}</c>. A value stays within its segment:
/// it is percent-encoded (RFC 3986, section 2.1), and a missing or empty one, <c>.</c> or <c>..</c> is refused. Immutable and
/// thread-safe.</summary>
public sealed partial class UrlPathTemplate
{
    /// <summary>The longest path and query of a request, encoded: what every server must take (RFC 9110, section 4.1).</summary>
    public const int MaxLength = 8000;

    /// <summary>Code of a path that a message cannot have.</summary>
    public const string Code = "ESB-HTTP-PATH";

    private const string Expected = "expected a path such as \"/customers/{property.id}\"";

    private readonly string _endpoint;
    private readonly List<Part> _parts;

    private UrlPathTemplate(string endpoint, List<Part> parts)
    {
        _endpoint = endpoint;
        _parts = parts;
        ReadsBody = parts.Any(part => part.Value?.ReadsBody == true);
    }

    /// <summary>True if a value reads the body, which must then be buffered.</summary>
    public bool ReadsBody { get; }

    /// <summary>Compiles a path; null after an error was reported.</summary>
    /// <param name="template">The path, as configured.</param>
    /// <param name="endpoint">The endpoint that is called, for the texts of failures.</param>
    /// <param name="settings">The settings that hold it.</param>
    /// <param name="property">The configured name of their property.</param>
    /// <param name="compiler">Compiles the places.</param>
    /// <param name="errors">Receives every error.</param>
    public static UrlPathTemplate? Compile(
        string template,
        string endpoint,
        SettingsRecord settings,
        string property,
        IExpressionCompiler compiler,
        ConfigErrors errors
    )
    {
        var path = ConfigNode.Join(settings.Path, property);
        if (compiler.CompileTemplate(template, path, settings.Origin, errors) is null)
            return null;

        var parts = new List<Part>();
        foreach (Match piece in Pieces().Matches(template))
        {
            // Each placeholder is compiled separately, so that a missing value is detected.
            var isPlace = piece.Groups["place"].Success;
            var literal = piece.Value is "{{" or "}}" ? piece.Value[..1] : piece.Value;
            parts.Add(
                isPlace
                    ? new Part(piece.Value, compiler.CompileTemplate(piece.Value, path, settings.Origin, errors))
                    : new Part(literal, null)
            );
        }

        if (WhatIsWrong(parts) is not { } wrong)
            return new UrlPathTemplate(endpoint, [.. parts.Select(Encoded)]);
        errors.Add("ESB-CFG-VALUE", settings, property, wrong);
        return null;
    }

    /// <summary>Returns the path for a message, percent-encoded.</summary>
    /// <exception cref="EsbException"><c>ESB-HTTP-PATH</c>: a value is missing or cannot be a segment, or the path is too long.</exception>
    public string Evaluate(MessageContext context)
    {
        var path = new StringBuilder();
        foreach (var part in _parts)
        {
            if (part.Value is null)
                path.Append(part.Text);
            else
                Append(path, part, MessageValues.AsText(part.Value.Evaluate(context)));
        }

        var whole = path.ToString();
        return HasDots(whole) ? throw Refused("has a segment that is . or ..") : whole; // of several values, none of which is
    }

    private void Append(StringBuilder path, Part part, string? value)
    {
        if (string.IsNullOrEmpty(value))
            throw Refused($"has no value for {part.Text}");
        if (value is "." or "..")
            throw Refused($"has the value {value} for {part.Text}, which is no segment");
        if (value.Length > MaxLength || path.Length > MaxLength)
            throw Refused($"is longer than {MaxLength} characters");
        if (!IsText(value))
            throw Refused($"has a value for {part.Text} that is no valid text");
        path.Append(Uri.EscapeDataString(value));
    }

    private EsbException Refused(string flaw) =>
        new(Code, $"The path of the request to the endpoint '{_endpoint}' {flaw}.", FaultKind.Invalid);

    private static Part Encoded(Part part) =>
        part.Value is null ? part with { Text = NotAscii().Replace(part.Text, piece => Uri.EscapeDataString(piece.Value)) } : part;

    private static string? WhatIsWrong(List<Part> parts)
    {
        var sample = string.Concat(parts.Select(part => part.Value is null ? part.Text : "x"));
        if (!sample.StartsWith('/'))
            return $"{Expected}, which begins with a slash and follows the path of the endpoint's url";
        if (sample.Contains('?', StringComparison.Ordinal))
            return $"{Expected} without a query, which query holds";
        if (sample.AsSpan().ContainsAny("#\\ \"<>^`|{}") || sample.Any(char.IsControl))
            return $"{Expected} without blanks, fragment and other characters that no path has";
        if (BadEscape().IsMatch(sample))
            return $"{Expected}; a percent sign is written %25, a slash within a segment cannot be written";
        if (!IsText(sample))
            return $"{Expected} of valid text";
        return HasDots(sample) || sample.Contains("//", StringComparison.Ordinal)
            ? $"{Expected} without empty segments and segments that are . or .."
            : null;
    }

    private static bool HasDots(string path) =>
        path.Replace("%2e", ".", StringComparison.OrdinalIgnoreCase).Split('/').Any(segment => segment is "." or "..");

    // A surrogate without its partner would be sent as another character, and mean another resource.
    private static bool IsText(string value)
    {
        for (var rest = value.AsSpan(); !rest.IsEmpty; )
        {
            if (Rune.DecodeFromUtf16(rest, out _, out var length) != System.Buffers.OperationStatus.Done)
                return false;
            rest = rest[length..];
        }

        return true;
    }

    [GeneratedRegex(@"\{\{|\}\}|(?<place>\{[^{}]*\})|[^{}]+|[{}]")]
    private static partial Regex Pieces();

    [GeneratedRegex(@"%(?![0-9A-Fa-f]{2})|%2[Ff]|%5[Cc]")]
    private static partial Regex BadEscape();

    [GeneratedRegex(@"[^\x00-\x7F]+")]
    private static partial Regex NotAscii();

    private sealed record Part(string Text, IMessageValue? Value);
}
