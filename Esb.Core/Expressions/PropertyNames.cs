namespace Esb.Core.Expressions;

/// <summary>The properties that values read.</summary>
public static class PropertyNames
{
    private const string Place = "{property.";

    /// <summary>The properties that a value reads.</summary>
    public static IEnumerable<string> Of(IValueSource value) =>
        value switch
        {
            { Property: { } property } => [property],
            { Template: { } template } => InTemplate(template),
            { Key: { } key } => Of(key),
            _ => [],
        };

    /// <summary>The properties that the places of a template read; a doubled brace is no place.</summary>
    public static IReadOnlyList<string> InTemplate(string template)
    {
        var names = new List<string>();
        for (var i = 0; i < template.Length; i++)
        {
            if (template[i] != '{')
                continue;
            if (i + 1 < template.Length && template[i + 1] == '{')
            {
                i++;
                continue;
            }

            var end = template.IndexOf('}', i);
            if (end < 0)
                break;
            if (template.AsSpan(i).StartsWith(Place, StringComparison.Ordinal))
                names.Add(template[(i + Place.Length)..end]);
            i = end;
        }

        return names;
    }
}
