namespace Esb.Core.Configuration;

/// <summary>Texts of others in our messages: short, and on one line.</summary>
public static class Clipped
{
    /// <summary>The characters of a value that a message shows.</summary>
    public const int ValueLength = 60;

    private const int NameLength = 128; // the longest that a name may be

    /// <summary>The beginning of a text, with an ellipsis where something is missing; never half a character.</summary>
    public static string To(int length, string text)
    {
        if (text.Length <= length) return text;
        var end = char.IsHighSurrogate(text[length - 2]) ? length - 2 : length - 1;
        return text[..end] + "…";
    }

    /// <summary>A name in a path: control characters, which could fake a line of their own, become visible.</summary>
    public static string Name(string name) =>
        To(NameLength, name.Any(char.IsControl) ? string.Concat(name.Select(c => char.IsControl(c) ? '\uFFFD' : c)) : name);
}
