using System.Text;

namespace Esb.Topics.RabbitMq.Topology;

/// <summary>Maps messages to lanes by key: each key has one of 128 slots, permanently, and each lane of an endpoint has its share of the
/// slots.</summary>
/// <remarks>
/// The publisher, which does not know the lanes, adds the slot as one more routing key (sender-selected distribution, header <c>BCC</c>,
/// which the broker removes). The broker's consistent hash exchange cannot do this: after a restart it may place the lanes in another order
/// (docs/adr/0005).
/// </remarks>
internal static class LaneSlots
{
    /// <summary>The name of the header that adds routing keys.</summary>
    public const string Header = "BCC";

    private const int Count = 128;
    private const int LongestOnStack = 256;

    // No subject consists of a tilde and a number, and no patterns but * and # match it.
    private static readonly List<object>[] Headers = [.. Enumerable.Range(0, Count).Select(slot => new List<object> { Name(slot) })];

    /// <summary>Returns the header's value for a key.</summary>
    public static IReadOnlyList<object> Of(string key) => Headers[Hash(key) % Count];

    /// <summary>Returns the slots of a lane.</summary>
    public static IEnumerable<string> OfLane(int lane, int lanes) =>
        Enumerable.Range(0, Count).Where(slot => slot % lanes == lane).Select(Name);

    private static string Name(int slot) => $"~{slot}";

    // FNV-1a with the last step of MurmurHash3, because a slot is derived from the lowest bits. It must not change: a key never changes its
    // slot.
    private static uint Hash(string key)
    {
        var length = Encoding.UTF8.GetMaxByteCount(key.Length);
        var bytes = length <= LongestOnStack ? stackalloc byte[LongestOnStack] : new byte[length];
        var hash = 2_166_136_261;
        foreach (var value in bytes[..Encoding.UTF8.GetBytes(key, bytes)])
            hash = (hash ^ value) * 16_777_619;
        hash = (hash ^ (hash >> 16)) * 0x85EBCA6B;
        hash = (hash ^ (hash >> 13)) * 0xC2B2AE35;
        return hash ^ (hash >> 16);
    }
}
