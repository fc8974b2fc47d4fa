using System.Text;
using System.Text.Json;
using Esb.Core.Expressions;

namespace Esb.Content.Expressions;

/// <summary>Parses templates: <c>{message.id}</c>, <c>{header.NAME}</c>, <c>{property.NAME}</c> and <c>{variable.NAME}</c> are places,
/// <c>{{</c> and <c>}}</c> plain braces.</summary>
internal static class TemplateParser
{
    private static readonly Dictionary<string, MessagePart> Parts =
        Enum.GetValues<MessagePart>().ToDictionary(part => JsonNamingPolicy.CamelCase.ConvertName(part.ToString()));

    /// <summary>The value, or what is expected instead.</summary>
    public static (IMessageValue? Value, string? Expected) Parse(string template)
    {
        var parts = new List<IMessageValue>();
        var literal = new StringBuilder();
        for (var i = 0; i < template.Length; i++)
        {
            var c = template[i];
            if (c is not ('{' or '}') || (i + 1 < template.Length && template[i + 1] == c))
            {
                literal.Append(c);
                if (c is '{' or '}') i++;
                continue;
            }

            var end = c == '{' ? template.IndexOf('}', i) : -1;
            if (end < 0) return (null, $"the brace at position {i + 1} has no partner; a plain brace is written {c}{c}");
            var name = template[(i + 1)..end];
            if (Place(name) is not { } place) return (null, $"{{{name}}} is unknown; expected {{message.{string.Join("|", Parts.Keys)}}}, {{header.NAME}} or {{property.NAME}}");
            if (literal.Length > 0) parts.Add(new ConstantValue(literal.ToString()));
            literal.Clear();
            parts.Add(place);
            i = end;
        }

        if (literal.Length > 0) parts.Add(new ConstantValue(literal.ToString()));
        return (new TemplateValue(parts), null);
    }

    private static IMessageValue? Place(string name) => name.Split('.', 2) switch
    {
        ["message", var part] when Parts.TryGetValue(part, out var known) => new MessagePartValue(known),
        ["header", { Length: > 0 } header] => new HeaderValue(header),
        ["property", { Length: > 0 } property] => new PropertyValue(property),
        ["variable", { Length: > 0 } variable] => new VariableValue(variable),
        _ => null,
    };
}
