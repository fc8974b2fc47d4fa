using Esb.Topics.Farm;

namespace Esb.Topics.RabbitMq.Farm;

/// <summary>What a signature says of a message between hosts.</summary>
internal enum FarmProof
{
    /// <summary>A host of this farm has signed it just now.</summary>
    Proven,

    /// <summary>No proof: not signed, as by hosts of the version before, signed with another key, or by a clock that differs.</summary>
    Unproven,

    /// <summary>A copy of a message that was received before.</summary>
    Repeated,
}

/// <summary>Signs messages between hosts, and checks signatures. Thread-safe.</summary>
/// <remarks>A signature holds for 30 s in each direction, and each message is accepted once.</remarks>
internal sealed class FarmSeal(FarmKeys keys, string farm, TimeProvider time)
{
    /// <summary>The maximum age of a message; clocks may differ by as much.</summary>
    public static readonly TimeSpan LongestAge = TimeSpan.FromSeconds(30);

    private const int MostSeen = 100_000; // only signed messages are remembered

    private readonly Lock _gate = new();
    private readonly HashSet<Guid> _seen = [];
    private readonly Queue<(Guid Nonce, DateTimeOffset At)> _order = [];

    /// <summary>True if this host has a key.</summary>
    public bool IsKnown => keys.Any;

    /// <summary>Signs a message; unchanged without a key.</summary>
    public FarmMessage Close(FarmMessage message)
    {
        if (!keys.Any)
            return message;
        var dated = message with { Time = time.GetUtcNow().ToUnixTimeMilliseconds(), Nonce = Guid.NewGuid() };
        return dated with { Mac = keys.Sign(ContentOf(dated)) };
    }

    public FarmProof Open(FarmMessage message)
    {
        if (message is not { Mac: { } mac, Time: { } at, Nonce: { } nonce } || !keys.Signed(ContentOf(message), mac))
            return FarmProof.Unproven;
        var now = time.GetUtcNow();
        var age = Math.Abs(now.ToUnixTimeMilliseconds() - (double)at);
        if (age > LongestAge.TotalMilliseconds)
            return FarmProof.Unproven;
        lock (_gate)
        {
            while (_order.TryPeek(out var oldest) && (now - oldest.At > 2 * LongestAge || _order.Count >= MostSeen))
                _seen.Remove(_order.Dequeue().Nonce);
            if (!_seen.Add(nonce))
                return FarmProof.Repeated;
            _order.Enqueue((nonce, now));
            return FarmProof.Proven;
        }
    }

    private ReadOnlySpan<byte> ContentOf(FarmMessage message) =>
        new SignedContent()
            .Add(farm)
            .Add(message.From.ToString("N"))
            .Add(message.Host)
            .Add(message.Kind)
            .Add(message.Body)
            .Add(message.Level)
            .Add(message.Time ?? 0)
            .Add(message.Nonce?.ToString("N"))
            .Bytes;
}
