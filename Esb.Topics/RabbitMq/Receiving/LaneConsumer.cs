using Esb.Core.Topics;
using Microsoft.Extensions.Logging;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq.Receiving;

/// <summary>Keeps a lane consumed while a connection lasts: one session after the other. Runs once at a time.</summary>
/// <param name="find">The lane; its queue may have another name after it was moved.</param>
/// <param name="work">What is done with its deliveries.</param>
/// <param name="gate">How many lanes work at once.</param>
/// <param name="freezes">Whether this process stood still.</param>
/// <param name="time">Paces it.</param>
/// <param name="logger">Hears of channels that are lost.</param>
internal sealed class LaneConsumer(Func<Lane> find, DeliveryWork work, SemaphoreSlim gate, FreezeWatch freezes, TimeProvider time, ILogger logger)
{
    // A channel that the broker closes again and again is not reopened in a circle.
    private static readonly TimeSpan Pause = TimeSpan.FromSeconds(1);

    private volatile LaneSession? _session;

    public string Queue => find().Queue;

    /// <summary>What is worked on now; null in between.</summary>
    public LaneSession? Session => _session;

    public bool IsLive => _session?.IsConsuming == true;

    /// <summary>Lets go of the lane after the delivery under way, and queues up again behind the other hosts that consume it.</summary>
    public Task HandOverAsync() => _session?.HandOverAsync() ?? Task.CompletedTask;

    /// <param name="connection">Where it opens its channels.</param>
    /// <param name="consuming">Is called each time it consumes; with whether it did so before, and only let others go first.</param>
    /// <param name="stopping">Ends it after the delivery under way.</param>
    /// <exception cref="Exception">The lane cannot be consumed as things stand.</exception>
    public async Task RunAsync(IConnection connection, Action<bool> consuming, CancellationToken stopping)
    {
        var letOthersFirst = false;
        while (connection.IsOpen && !stopping.IsCancellationRequested)
        {
            var isAgain = letOthersFirst;
            _session = new LaneSession(find(), work, gate, freezes, time, logger);
            try
            {
                if (!await _session.RunAsync(connection, () => consuming(isAgain), stopping)) await Task.Delay(Pause, time, stopping);
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
