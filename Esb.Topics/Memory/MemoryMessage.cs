using System.Diagnostics;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Core.Topics;

namespace Esb.Topics.Memory;

/// <summary>A published message, until every subscriber has settled it.</summary>
internal sealed class MemoryMessage(EsbMessage message, ActivityContext parent, int subscribers, Action settled)
{
    private readonly TaskCompletionSource _settled = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private int _unsettled = subscribers;

    public EsbMessage Message => message;

    public ActivityContext Parent => parent;

    public DeliveryKind Kind { get; init; }

    public ReplySender? Reply { get; init; }

    /// <summary>The time stamp at which nobody waits for the reply any more; <see cref="long.MaxValue"/> where nobody waits for one.</summary>
    public long Expires { get; init; } = long.MaxValue;

    /// <summary>The same on the calendar; null where nobody waits.</summary>
    public DateTimeOffset? ExpiresAt { get; init; }

    public Task Settled => _settled.Task;

    /// <summary>The message whose delivery is worked on in this flow, where that may publish others: they become a part of it.</summary>
    public static AsyncLocal<MemoryMessage?> Worked { get; } = new();

    /// <summary>Counts one more that has to be settled; false where all of them are, and it is too late.</summary>
    public bool TryJoin()
    {
        var unsettled = Volatile.Read(ref _unsettled);
        while (unsettled > 0)
        {
            var seen = Interlocked.CompareExchange(ref _unsettled, unsettled + 1, unsettled);
            if (seen == unsettled) return true;
            unsettled = seen;
        }

        return false;
    }

    public void SettleOne()
    {
        if (Interlocked.Decrement(ref _unsettled) > 0) return;
        settled();
        _settled.TrySetResult();
    }
}

/// <summary>A message on its way to one subscriber.</summary>
/// <param name="Published">What it shares with its other subscribers.</param>
/// <param name="Attempt">Attempts made before.</param>
internal sealed record MemoryDelivery(MemoryMessage Published, int Attempt)
{
    /// <summary>What became of them.</summary>
    public IReadOnlyList<FailedAttempt> Failures { get; init; } = [];

    public TopicDelivery ToDelivery(DeliverySource source) => new(Published.Message with { Attempt = Attempt }, Published.Parent, Published.Reply)
    {
        Kind = Published.Kind,
        Source = source,
        ExpiresAt = Published.ExpiresAt,
        Failures = Failures,
    };
}
