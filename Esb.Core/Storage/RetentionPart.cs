using Esb.Core.Errors;

namespace Esb.Core.Storage;

/// <summary>Deletes expired data, at start and then every hour, until the bus stops. An unreachable store is tried again an hour
/// later.</summary>
/// <param name="retention">Retention period.</param>
/// <param name="time">Source of the current time.</param>
public abstract class RetentionPart(Func<TimeSpan> retention, TimeProvider time) : IBusPart, IDisposable
{
    private static readonly TimeSpan Interval = TimeSpan.FromHours(1);

    private readonly CancellationTokenSource _stopping = new();
    private Task _removing = Task.CompletedTask;

    /// <inheritdoc/>
    public BusStage Stage => BusStage.Stores;

    /// <inheritdoc/>
    public IReadOnlyList<Type> StartsAfter => [typeof(IStorePart)];

    /// <inheritdoc/>
    public Task StartAsync(CancellationToken cancellationToken)
    {
        _removing = Task.Run(() => RunAsync(_stopping.Token), CancellationToken.None);
        return Task.CompletedTask;
    }

    /// <inheritdoc/>
    public async Task StopAsync(CancellationToken cancellationToken)
    {
        await _stopping.CancelAsync();
        await _removing;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        Dispose(isDisposing: true);
        GC.SuppressFinalize(this);
    }

    /// <summary>Deletes data that expired before the given time.</summary>
    /// <exception cref="EsbException">The store is unreachable.</exception>
    /// <exception cref="IOException">Its files cannot be changed.</exception>
    protected abstract Task RemoveBeforeAsync(DateTimeOffset moment, CancellationToken cancellationToken);

    /// <summary>Reports that nothing could be deleted.</summary>
    protected abstract void NoteFailure(string reason);

    /// <summary>Releases the resources of a part.</summary>
    protected virtual void Dispose(bool isDisposing)
    {
        if (isDisposing)
            _stopping.Dispose();
    }

    private async Task RunAsync(CancellationToken stopping)
    {
        while (!stopping.IsCancellationRequested)
        {
            try
            {
                await RemoveBeforeAsync(time.GetUtcNow() - retention(), stopping);
            }
            catch (Exception) when (stopping.IsCancellationRequested)
            {
                return;
            }
            catch (Exception ex)
            {
                NoteFailure(ex.Message);
            }

            await Task.Delay(Interval, time, stopping).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }
}
