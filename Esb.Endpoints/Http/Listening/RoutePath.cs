using Esb.Core.Configuration;

namespace Esb.Endpoints.Http.Listening;

/// <summary>The path of a route: segments as they are, or placeholders such as <c>{id}</c>, whose values become the properties
/// <c>path.id</c>. Immutable.</summary>
internal sealed class RoutePath
{
    public const string PropertyPrefix = "path.";

    private const int MaxNameLength = 64;

    private readonly string?[] _properties;

    /// <param name="path">The path; sound by <see cref="WhatIsWrong"/>.</param>
    public RoutePath(string path)
    {
        Segments = path.Split('/')[1..];
        _properties = [.. Segments.Select(segment => IsPlaceholder(segment) ? $"{PropertyPrefix}{segment[1..^1]}" : null)];
        HasPlaceholders = Array.Exists(_properties, property => property is not null);
        Shape = '/' + string.Join('/', Segments.Select(segment => IsPlaceholder(segment) ? "{}" : segment));
    }

    /// <summary>The segments; a path that ends with a slash has an empty last one.</summary>
    public string[] Segments { get; }

    public bool HasPlaceholders { get; }

    /// <summary>Equal for paths that match the same requests, whatever their placeholders are called.</summary>
    public string Shape { get; }

    public static bool IsPlaceholder(string segment) => segment.StartsWith('{');

    /// <summary>Returns what is wrong with a path, as the end of a sentence; null if nothing is.</summary>
    public static string? WhatIsWrong(string path)
    {
        if (
            !path.StartsWith('/')
            || path.Any(c => char.IsControl(c) || "?#%\\".Contains(c))
            || path.Split('/').Any(segment => segment is "." or "..")
        )
            return "expected a path as it is once decoded, such as \"/orders\" or \"/customers/{id}\", without query, fragment and "
                + "dot segments";

        var names = new HashSet<string>();
        foreach (var segment in path.Split('/').Where(segment => segment.AsSpan().ContainsAny('{', '}')))
        {
            if (segment is not ['{', .. var name, '}'] || !IsName(name))
                return $"'{Clipped.Name(segment)}' is not a placeholder: expected a whole segment such as {{id}}, its name of letters, "
                    + $"digits, - and _";
            if (!names.Add(name))
                return $"the placeholder {{{name}}} is there twice; expected different names";
        }

        return null;
    }

    /// <summary>Adds the values of the placeholders to properties.</summary>
    /// <param name="path">The path of a request that matches.</param>
    /// <param name="properties">Receives the values, which are neither empty nor contain a slash.</param>
    public void AddTo(Dictionary<string, object> properties, string path)
    {
        var index = 0;
        foreach (var range in path.AsSpan(1).Split('/'))
        {
            if (index < _properties.Length && _properties[index] is { } property)
                properties[property] = path.AsSpan(1)[range].ToString();
            index++;
        }
    }

    private static bool IsName(string name) =>
        name.Length is > 0 and <= MaxNameLength && name.All(c => char.IsAsciiLetterOrDigit(c) || c is '-' or '_');
}
