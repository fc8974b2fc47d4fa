using Esb.Core.Topics;
using Microsoft.Extensions.Logging;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq.Receiving;

/// <summary>Consumes a lane while a connection lasts: one session after the other. Runs once at a time.</summary>
/// <param name="find">Finds the lane; its queue may have another name after a move.</param>
/// <param name="work">Handles the deliveries.</param>
/// <param name="gate">Limits the number of lanes that work at once.</param>
/// <param name="freezes">Detects that this process stood still.</param>
/// <param name="time">Paces the sessions.</param>
/// <param name="logger">Logs lost channels.</param>
internal sealed class LaneConsumer(
    Func<Lane> find,
    DeliveryWork work,
    SemaphoreSlim gate,
    FreezeWatch freezes,
    TimeProvider time,
    ILogger logger
)
{
    // Prevents a tight loop when the broker closes each new channel.
    private static readonly TimeSpan Pause = TimeSpan.FromSeconds(1);

    private volatile LaneSession? _session;

    public string Queue => find().Queue;

    /// <summary>The current session; null in between.</summary>
    public LaneSession? Session => _session;

    public bool IsLive => _session?.IsConsuming == true;

    /// <summary>Releases the lane after the delivery in progress, and queues up again behind the other hosts that consume it.</summary>
    public Task HandOverAsync() => _session?.HandOverAsync() ?? Task.CompletedTask;

    /// <param name="connection">The connection for its channels.</param>
    /// <param name="consuming">Called each time it consumes; true if it consumed before and only let other hosts go first.</param>
    /// <param name="stopping">Stops it after the delivery in progress.</param>
    /// <exception cref="Exception">The lane cannot be consumed at present.</exception>
    public async Task RunAsync(IConnection connection, Action<bool> consuming, CancellationToken stopping)
    {
        var letOthersFirst = false;
        while (connection.IsOpen && !stopping.IsCancellationRequested)
        {
            var isAgain = letOthersFirst;
            _session = new LaneSession(find(), work, gate, freezes, time, logger);
            try
            {
                if (!await _session.RunAsync(connection, () => consuming(isAgain), stopping))
                    await Task.Delay(Pause, time, stopping);
            }
            catch (OperationCanceledException) when (stopping.IsCancellationRequested)
            {
                return;
            }
            finally
            {
                letOthersFirst = _session.HandsOver;
                _session = null;
            }
        }
    }
}
