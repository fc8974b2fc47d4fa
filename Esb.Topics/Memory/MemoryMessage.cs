using System.Diagnostics;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Core.Topics;

namespace Esb.Topics.Memory;

/// <summary>A published message, kept until every subscriber has settled it.</summary>
internal sealed class MemoryMessage(EsbMessage message, ActivityContext parent, int subscribers, Action settled)
{
    private readonly TaskCompletionSource _settled = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private int _unsettled = subscribers;

    public EsbMessage Message => message;

    public ActivityContext Parent => parent;

    public DeliveryKind Kind { get; init; }

    /// <summary>Sends the reply; null if no requester waits for one.</summary>
    public ReplySender? Reply { get; init; }

    /// <summary>Where the reply goes; null if no requester waits for one.</summary>
    public string? ReplyAddress { get; init; }

    /// <summary>The timestamp at which the requester stops waiting for the reply; <see cref="long.MaxValue"/> if no reply is
    /// expected.</summary>
    public long Expires { get; init; } = long.MaxValue;

    /// <summary>The same time as a date; null if no reply is expected.</summary>
    public DateTimeOffset? ExpiresAt { get; init; }

    public Task Settled => _settled.Task;

    /// <summary>The message being handled in the current execution flow, if its handler may publish others: they become part of
    /// it.</summary>
    public static AsyncLocal<MemoryMessage?> Worked { get; } = new();

    /// <summary>Adds one more message to be settled; false if all have been settled and it is too late.</summary>
    public bool TryJoin()
    {
        var unsettled = Volatile.Read(ref _unsettled);
        while (unsettled > 0)
        {
            var seen = Interlocked.CompareExchange(ref _unsettled, unsettled + 1, unsettled);
            if (seen == unsettled)
                return true;
            unsettled = seen;
        }

        return false;
    }

    public void SettleOne()
    {
        if (Interlocked.Decrement(ref _unsettled) > 0)
            return;
        settled();
        _settled.TrySetResult();
    }
}

/// <summary>A message on its way to one subscriber.</summary>
/// <param name="Published">The state shared with the other subscribers.</param>
/// <param name="Attempt">The number of earlier attempts.</param>
internal sealed record MemoryDelivery(MemoryMessage Published, int Attempt)
{
    /// <summary>The failures of those attempts.</summary>
    public IReadOnlyList<FailedAttempt> Failures { get; init; } = [];

    public TopicDelivery ToDelivery(DeliverySource source) =>
        new(Published.Message with { Attempt = Attempt }, Published.Parent, Published.Reply)
        {
            ReplyAddress = Published.ReplyAddress is { } address ? () => address : null,
            Kind = Published.Kind,
            Source = source,
            ExpiresAt = Published.ExpiresAt,
            Failures = Failures,
        };
}
