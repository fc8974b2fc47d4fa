using Esb.Core.Messages;
using Microsoft.Extensions.Primitives;

namespace Esb.Endpoints.Http.Wire;

/// <summary>The field <c>Via</c> (RFC 9110, section 7.6.3). Every bus that a message leaves adds an entry, so that hops are counted over
/// HTTP.</summary>
internal static class ViaField
{
    public const string Name = "Via";

    /// <summary>The name under which a bus receives. It hides the host name from external systems.</summary>
    public const string Pseudonym = "esb";

    private static readonly string[] Entries =
    [
        .. Enumerable.Range(0, MessageHops.Most + 1).Select(hops => string.Join(", ", Enumerable.Repeat($"1.1 {Pseudonym}", hops))),
    ];

    /// <summary>Returns the value for a message that has left the bus this number of times.</summary>
    /// <param name="hops">At most <see cref="MessageHops.Most"/>.</param>
    public static string Of(int hops) => Entries[hops];

    /// <summary>Counts the entries of buses; ignores the entries of other proxies.</summary>
    public static int HopsOf(StringValues lines)
    {
        var hops = 0;
        foreach (var line in lines)
        {
            var text = line.AsSpan();
            foreach (var entry in text.Split(','))
                hops += IsOurs(text[entry]) ? 1 : 0;
        }

        return hops;
    }

    // Protocol, name, and an optional comment.
    private static bool IsOurs(ReadOnlySpan<char> entry)
    {
        entry = entry.Trim();
        var space = entry.IndexOfAny(' ', '\t');
        if (space < 0)
            return false;
        var name = entry[space..].TrimStart();
        var end = name.IndexOfAny(' ', '\t');
        return (end < 0 ? name : name[..end]).Equals(Pseudonym, StringComparison.OrdinalIgnoreCase);
    }
}
