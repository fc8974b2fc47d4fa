using System.Text;
using System.Text.Json;
using Esb.Core.Expressions;
using Esb.Core.Schedules;

namespace Esb.Content.Expressions;

/// <summary>Parses templates: <c>{message.id}</c>, <c>{header.NAME}</c>, <c>{property.NAME}</c>, <c>{variable.NAME}</c>,
/// <c>{file.name}</c>, <c>{sequence}</c>, <c>{now:FORMAT}</c>, <c>{message.createdAt:FORMAT}</c> and <c>{now ZONE:FORMAT}</c> are places,
/// <c>{{</c> and <c>}}</c> plain braces.</summary>
internal static class TemplateParser
{
    // The header in which file endpoints pass on the name of the file.
    private const string FileName = "x-file-name";
    private const string Now = "now";
    private const string CreatedAt = "message.createdAt";
    private const string Sequence = "sequence";

    private static readonly Dictionary<string, MessagePart> Parts = Enum.GetValues<MessagePart>()
        .ToDictionary(part => JsonNamingPolicy.CamelCase.ConvertName(part.ToString()));

    /// <summary>The value, or what is expected instead.</summary>
    public static (IMessageValue? Value, string? Expected) Parse(string template, TimeProvider time)
    {
        var parts = new List<IMessageValue>();
        var literal = new StringBuilder();
        for (var i = 0; i < template.Length; i++)
        {
            var c = template[i];
            if (c is not ('{' or '}') || (i + 1 < template.Length && template[i + 1] == c))
            {
                literal.Append(c);
                if (c is '{' or '}')
                    i++;
                continue;
            }

            var end = c == '{' ? template.IndexOf('}', i) : -1;
            if (end < 0)
                return (null, $"the brace at position {i + 1} has no partner; a plain brace is written {c}{c}");
            var name = template[(i + 1)..end];
            if (Place(name, time) is not { } place)
                return (null, ExpectedFor(name));
            if (literal.Length > 0)
                parts.Add(new ConstantValue(literal.ToString()));
            literal.Clear();
            parts.Add(place);
            i = end;
        }

        if (literal.Length > 0)
            parts.Add(new ConstantValue(literal.ToString()));
        return (new TemplateValue(parts), null);
    }

    private static IMessageValue? Place(string name, TimeProvider time) =>
        name.Split('.', 2) switch
        {
            _ when name == "now" => new InstantValue(_ => time.GetUtcNow(), "O", TimeZoneInfo.Utc),
            _ when FormatOf(name, Now) is var (format, zone) => new InstantValue(_ => time.GetUtcNow(), format, zone),
            _ when FormatOf(name, CreatedAt) is var (format, zone) => new InstantValue(context => context.Message.CreatedAt, format, zone),
            [Sequence] => new SequenceValue(width: 1),
            _ when WidthOf(name) is { } width => new SequenceValue(width),
            ["file", "name"] => new HeaderValue(FileName),
            ["message", var part] when Parts.TryGetValue(part, out var known) => new MessagePartValue(known),
            ["header", { Length: > 0 } header] => new HeaderValue(header),
            ["property", { Length: > 0 } property] => new PropertyValue(property),
            ["variable", { Length: > 0 } variable] => new VariableValue(variable),
            _ => null,
        };

    // As many zeros as digits; null for another place.
    private static int? WidthOf(string name) =>
        name.StartsWith($"{Sequence}:", StringComparison.Ordinal)
        && name[(Sequence.Length + 1)..] is { Length: > 0 and <= SequenceValue.MaxWidth } zeros
        && zeros.All(digit => digit == '0')
            ? zeros.Length
            : null;

    // Null for another place, and for an unknown zone and an invalid format.
    private static (string Format, TimeZoneInfo Zone)? FormatOf(string name, string place)
    {
        if (!IsInstant(name, place) || name.IndexOf(':', StringComparison.Ordinal) is not (> 0 and var colon))
            return null;
        var (zone, format) = (name[place.Length..colon], name[(colon + 1)..]);
        if (!InstantValue.IsFormat(format))
            return null;
        return zone.Length == 0 ? (format, TimeZoneInfo.Utc)
            : TimeZoneName.Parse(zone[1..]) is { } known ? (format, known.Zone)
            : null;
    }

    private static bool IsInstant(string name, string place) =>
        name.StartsWith(place, StringComparison.Ordinal) && name.Length > place.Length && name[place.Length] is ':' or ' ';

    private static string ExpectedFor(string name) =>
        name.StartsWith($"{Sequence}:", StringComparison.Ordinal)
            ? $"{{{name}}} has no width; expected 1 to {SequenceValue.MaxWidth} zeros, such as {{sequence:000000}}"
        : IsInstant(name, Now) || IsInstant(name, CreatedAt)
            ? $"{{{name}}} has no format of a date or time in .NET's letters, such as yyyyMMdd-HHmmss, or no time zone that the system "
                + "knows, such as Europe/Berlin in {now Europe/Berlin:yyyyMMdd}"
        : $"{{{name}}} is unknown; expected {{message.{string.Join("|", Parts.Keys)}}}, {{header.NAME}}, {{property.NAME}}, "
            + $"{{file.name}}, {{sequence}}, {{now:yyyyMMdd}} or {{message.createdAt:yyyyMMdd}}";
}
