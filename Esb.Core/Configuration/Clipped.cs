namespace Esb.Core.Configuration;

/// <summary>Shortens external texts in our messages, and keeps them on one line.</summary>
public static class Clipped
{
    /// <summary>Maximum characters of a value in a message.</summary>
    public const int ValueLength = 60;

    private const int NameLength = 128; // the maximum length of a name

    /// <summary>Beginning of a text, with an ellipsis if it was cut; never splits a character.</summary>
    public static string To(int length, string text)
    {
        if (text.Length <= length)
            return text;
        var end = char.IsHighSurrogate(text[length - 2]) ? length - 2 : length - 1;
        return text[..end] + "…";
    }

    /// <summary>A name in a path: control characters, which could fake a line of their own, are made visible.</summary>
    public static string Name(string name) =>
        To(NameLength, name.Any(char.IsControl) ? string.Concat(name.Select(c => char.IsControl(c) ? '\uFFFD' : c)) : name);
}
