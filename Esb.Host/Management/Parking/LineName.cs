namespace Esb.Host.Management.Parking;

/// <summary>A line of waiting messages as paths and command lines name it: its key, mostly.</summary>
/// <remarks><c>*</c> is the whole endpoint, <c>~</c> the messages without a key; a key that begins with one of these, and a key of one or two dots, which paths lose, has a <c>~</c> before it.</remarks>
internal static class LineName
{
    private const string WholeEndpoint = "*";
    private const string NoKey = "~";

    public static string Of(string? key) => key switch
    {
        null => WholeEndpoint,
        "" => NoKey,
        ['~' or '*', ..] or "." or ".." => NoKey + key,
        _ => key,
    };

    /// <summary>The key; empty for messages without one, null for the whole endpoint.</summary>
    public static string? KeyOf(string name) => name switch
    {
        WholeEndpoint => null,
        ['~', .. var key] => key,
        _ => name,
    };
}
