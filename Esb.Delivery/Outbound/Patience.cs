using Esb.Core.Errors;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Outbound;

/// <summary>Retries an operation that must succeed before a message may be settled: after 1 s, then every 5 s. Thread-safe.</summary>
internal sealed partial class Patience(string endpoint, DeliveryState state, TimeProvider time, ILogger<Patience> logger)
{
    private static readonly TimeSpan First = TimeSpan.FromSeconds(1);

    /// <summary>The retry interval for an outcome that cannot be recorded.</summary>
    public static readonly TimeSpan Pace = TimeSpan.FromSeconds(5);

    public Task InsistAsync(Func<Task> work, CancellationToken waiting) =>
        InsistAsync(
            async () =>
            {
                await work();
                return true;
            },
            waiting
        );

    /// <exception cref="EsbException">The failure is permanent.</exception>
    public async Task<T> InsistAsync<T>(Func<Task<T>> work, CancellationToken waiting)
    {
        for (var delay = First; ; delay = Pace)
        {
            try
            {
                var result = await work();
                state.Trouble = null;
                return result;
            }
            catch (EsbException ex) when (ex.IsTransient)
            {
                if (state.Trouble is null)
                    LogWaits(endpoint, ex);
                state.Trouble = ex.Message;
            }

            await Task.Delay(delay, time, waiting);
        }
    }

    [LoggerMessage(
        EventId = 2432,
        Level = LogLevel.Warning,
        Message = "Endpoint {Endpoint} waits: the outcome of a message could not be stored"
    )]
    private partial void LogWaits(string endpoint, Exception exception);
}
