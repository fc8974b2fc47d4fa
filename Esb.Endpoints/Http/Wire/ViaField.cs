using Esb.Core.Messages;
using Microsoft.Extensions.Primitives;

namespace Esb.Endpoints.Http.Wire;

/// <summary>The field <c>Via</c> (RFC 9110, section 7.6.3), in which every bus that a message leaves adds an entry: so its hops are counted over HTTP.</summary>
internal static class ViaField
{
    public const string Name = "Via";

    /// <summary>The name under which a bus receives; not that of its host, which the outside need not know.</summary>
    public const string Pseudonym = "esb";

    private static readonly string[] Entries = [.. Enumerable.Range(0, MessageHops.Most + 1).Select(hops => string.Join(", ", Enumerable.Repeat($"1.1 {Pseudonym}", hops)))];

    /// <summary>What a message says that has left the bus so often.</summary>
    /// <param name="hops">At most <see cref="MessageHops.Most"/>.</param>
    public static string Of(int hops) => Entries[hops];

    /// <summary>How many of the entries are of a bus; those of other proxies count nothing.</summary>
    public static int HopsOf(StringValues lines)
    {
        var hops = 0;
        foreach (var line in lines)
        {
            var text = line.AsSpan();
            foreach (var entry in text.Split(',')) hops += IsOurs(text[entry]) ? 1 : 0;
        }

        return hops;
    }

    // protocol, name, and perhaps a comment
    private static bool IsOurs(ReadOnlySpan<char> entry)
    {
        entry = entry.Trim();
        var space = entry.IndexOfAny(' ', '\t');
        if (space < 0) return false;
        var name = entry[space..].TrimStart();
        var end = name.IndexOfAny(' ', '\t');
        return (end < 0 ? name : name[..end]).Equals(Pseudonym, StringComparison.OrdinalIgnoreCase);
    }
}
