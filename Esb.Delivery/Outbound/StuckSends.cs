using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Outbound;

/// <summary>Counts the sends of an endpoint that still run after their time-out and cancellation. Thread-safe.</summary>
internal sealed partial class StuckSends(string endpoint, ILogger<StuckSends> logger)
{
    private int _count;

    public int Count => Volatile.Read(ref _count);

    /// <summary>Adds a send. Returns true if a replacement instance is allowed.</summary>
    public bool Add(Guid messageId, int room)
    {
        var count = Interlocked.Increment(ref _count);
        LogStuck(messageId, endpoint, count);
        return count <= room;
    }

    public void Remove(Guid messageId)
    {
        Interlocked.Decrement(ref _count);
        LogEnded(messageId, endpoint);
    }

    [LoggerMessage(
        EventId = 2430,
        Level = LogLevel.Error,
        Message = "The attempt to send message {MessageId} by {Endpoint} ignores its time-out and still runs; its instance is "
            + "replaced. {Count} such attempts are running"
    )]
    private partial void LogStuck(Guid messageId, string endpoint, int count);

    [LoggerMessage(
        EventId = 2431,
        Level = LogLevel.Warning,
        Message = "The attempt to send message {MessageId} by {Endpoint} has ended after all, long after its time-out"
    )]
    private partial void LogEnded(Guid messageId, string endpoint);
}
