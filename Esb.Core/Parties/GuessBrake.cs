using System.Net;
using System.Net.Sockets;

namespace Esb.Core.Parties;

/// <summary>Slows guessing of credentials: each source address may be wrong a number of times, then once per interval.
/// Thread-safe.</summary>
/// <remarks>
/// Pattern: token bucket. An address that is out of tokens is refused without a look at what it presents, right or wrong. IPv6 addresses
/// count by their /64, as a host has all of it. At most <see cref="MostAddresses"/> addresses are remembered; the one that was wrong
/// longest ago is forgotten first.
/// </remarks>
/// <param name="time">The clock.</param>
public sealed class GuessBrake(TimeProvider time)
{
    /// <summary>Wrong credentials in a row that cost nothing.</summary>
    public const int Burst = 20;

    /// <summary>Addresses that are remembered.</summary>
    public const int MostAddresses = 10_000;

    /// <summary>Time in which an address regains one wrong try.</summary>
    public static readonly TimeSpan Interval = TimeSpan.FromSeconds(1);

    private readonly Lock _gate = new();
    private readonly Dictionary<IPAddress, LinkedListNode<Source>> _sources = [];
    private readonly LinkedList<Source> _order = []; // of the last wrong try
    private volatile int _count;

    /// <summary>The time until an address may try again; null if it may now.</summary>
    /// <param name="address">The source address; null if unknown, which is never slowed.</param>
    public TimeSpan? WaitOf(IPAddress? address)
    {
        if (_count == 0 || address is null)
            return null; // nearly always
        lock (_gate)
        {
            if (!_sources.TryGetValue(NetworkOf(address), out var node))
                return null;
            var wrong = Regain(node);
            return wrong < Burst ? null : (wrong - Burst + 1) * Interval;
        }
    }

    /// <summary>Counts wrong credentials from an address.</summary>
    public void CountWrong(IPAddress? address)
    {
        if (address is null)
            return;
        lock (_gate)
        {
            var network = NetworkOf(address);
            if (_sources.Remove(network, out var node))
                _order.Remove(node);
            var wrong = node is null ? 0 : Regain(node);
            if (_sources.Count >= MostAddresses && _order.First is { } oldest)
            {
                _sources.Remove(oldest.Value.Network);
                _order.RemoveFirst();
            }

            _sources[network] = _order.AddLast(new Source(network, wrong + 1, time.GetTimestamp()));
            _count = _sources.Count;
        }
    }

    private double Regain(LinkedListNode<Source> node) => Math.Max(0, node.Value.Wrong - (time.GetElapsedTime(node.Value.At) / Interval));

    private static IPAddress NetworkOf(IPAddress address)
    {
        if (address.IsIPv4MappedToIPv6)
            return address.MapToIPv4();
        if (address.AddressFamily != AddressFamily.InterNetworkV6)
            return address;
        Span<byte> bytes = stackalloc byte[16];
        address.TryWriteBytes(bytes, out _);
        bytes[8..].Clear();
        return new IPAddress(bytes);
    }

    private sealed record Source(IPAddress Network, double Wrong, long At);
}
