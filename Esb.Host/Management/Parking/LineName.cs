namespace Esb.Host.Management.Parking;

/// <summary>The name of a line of parked messages in paths and on command lines: usually its key.</summary>
/// <remarks><c>*</c> stands for the whole endpoint, <c>~</c> for the messages without a key. A key that starts with one of these, and a key
/// of one or two dots, which paths drop, is prefixed with <c>~</c>.</remarks>
internal static class LineName
{
    private const string WholeEndpoint = "*";
    private const string NoKey = "~";

    public static string Of(string? key) =>
        key switch
        {
            null => WholeEndpoint,
            "" => NoKey,
            ['~' or '*', ..] or "." or ".." => NoKey + key,
            _ => key,
        };

    /// <summary>The key; empty for messages without one, null for the whole endpoint.</summary>
    public static string? KeyOf(string name) =>
        name switch
        {
            WholeEndpoint => null,
            ['~', .. var key] => key,
            _ => name,
        };
}
