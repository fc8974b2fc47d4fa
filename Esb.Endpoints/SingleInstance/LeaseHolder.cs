using Esb.Core.Errors;
using Esb.Core.Storage;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.SingleInstance;

/// <summary>Works while it holds a lease, and waits for the lease while it does not (pattern: leader election).</summary>
/// <remarks>
/// It knows by its own monotonic clock until when the lease can last at least, and stops by then whatever the store says:
/// a host that was suspended, or cut off from the store, notices before it does anything else.
/// </remarks>
/// <param name="name">What is held.</param>
/// <param name="owner">Who this is, among all hosts.</param>
/// <param name="leases">Where.</param>
/// <param name="work">Runs while the lease is held, and ends soon after its token is cancelled.</param>
/// <param name="time">Of this host.</param>
/// <param name="logger">Hears of taking and losing.</param>
internal sealed partial class LeaseHolder(
    string name, string owner, ILeaseStore leases, Func<Lease, CancellationToken, Task> work, TimeProvider time, ILogger<LeaseHolder> logger) : IAsyncDisposable
{
    /// <summary>How long a lease lasts that is not renewed: what a take-over waits for after a crash.</summary>
    public static readonly TimeSpan TimeToLive = TimeSpan.FromSeconds(10);

    private static readonly TimeSpan Interval = TimeToLive / 3;

    private readonly CancellationTokenSource _stopping = new();
    private Task _running = Task.CompletedTask;
    private long _heldSince;
    private volatile bool _holds;

    /// <summary>Whether the lease is certainly held at this moment.</summary>
    public bool IsHeld => _holds && time.GetElapsedTime(Interlocked.Read(ref _heldSince)) < TimeToLive;

    public void Start() => _running = RunAsync(_stopping.Token);

    /// <summary>Ends the work and gives the lease back.</summary>
    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        await _running;
    }

    private async Task RunAsync(CancellationToken stopping)
    {
        try
        {
            while (true)
            {
                var asked = time.GetTimestamp();
                if (await AskAsync(token => leases.AcquireAsync(name, owner, TimeToLive, token), stopping) is { } lease) await HoldAsync(lease, asked, stopping);
                await Task.Delay(Interval, time, stopping); // also after work that failed: it may do so again
            }
        }
        catch (OperationCanceledException) when (stopping.IsCancellationRequested)
        {
            // disposed
        }
    }

    private async Task HoldAsync(Lease lease, long asked, CancellationToken stopping)
    {
        using var lost = new CancellationTokenSource(Timeout.InfiniteTimeSpan, time);
        Extend(lost, asked);
        _holds = true;
        LogTaken(name, lease.Token);
        var working = WorkAsync(lease, lost.Token);
        try
        {
            await RenewAsync(lease, lost, working, stopping);
        }
        finally
        {
            _holds = false;
            await lost.CancelAsync();
            await working;
            LogEnded(name);
            await GiveBackAsync(lease);
        }
    }

    // Ends when the lease is lost, the work has ended, or the host stops.
    private async Task RenewAsync(Lease lease, CancellationTokenSource lost, Task working, CancellationToken stopping)
    {
        while (!working.IsCompleted && !lost.IsCancellationRequested)
        {
            await Task.WhenAny(working, Task.Delay(Interval, time, stopping));
            stopping.ThrowIfCancellationRequested();
            var asked = time.GetTimestamp();
            var renewed = await AskAsync<bool?>(async token => await leases.RenewAsync(lease, TimeToLive, token), lost.Token);
            if (renewed == false) return;
            if (renewed == true) Extend(lost, asked);
        }
    }

    // The store counts from a later moment than the one at which it was asked, so that ours is the earlier end.
    private void Extend(CancellationTokenSource lost, long asked)
    {
        Interlocked.Exchange(ref _heldSince, asked);
        var left = TimeToLive - time.GetElapsedTime(asked);
        lost.CancelAfter(left > TimeSpan.Zero ? left : TimeSpan.Zero);
    }

    // Default where nobody can tell: the store is away, or does not answer in time.
    private async Task<T?> AskAsync<T>(Func<CancellationToken, Task<T>> ask, CancellationToken cancellationToken)
    {
        try
        {
            return await ask(cancellationToken).WaitAsync(cancellationToken);
        }
        catch (EsbException ex)
        {
            LogAway(name, ex.Message);
            return default;
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested && !_stopping.IsCancellationRequested)
        {
            return default;
        }
    }

    private async Task WorkAsync(Lease lease, CancellationToken lost)
    {
        try
        {
            await work(lease, lost);
        }
        catch (Exception ex) when (ex is not OperationCanceledException || !lost.IsCancellationRequested)
        {
            LogFailed(name, ex);
        }
        catch (OperationCanceledException)
        {
            // lost
        }
    }

    private async Task GiveBackAsync(Lease lease)
    {
        using var limit = new CancellationTokenSource(Interval, time);
        try
        {
            await leases.ReleaseAsync(lease, limit.Token).WaitAsync(limit.Token);
        }
        catch (Exception ex) when (ex is EsbException or OperationCanceledException)
        {
            LogAway(name, ex.Message); // it runs out by itself
        }
    }

    [LoggerMessage(EventId = 2530, Level = LogLevel.Information, Message = "{Name} runs on this host from now on (token {Token})")]
    private partial void LogTaken(string name, long token);

    [LoggerMessage(EventId = 2531, Level = LogLevel.Information, Message = "{Name} does not run on this host any more")]
    private partial void LogEnded(string name);

    [LoggerMessage(EventId = 2532, Level = LogLevel.Warning, Message = "who runs {Name} cannot be found out: {Reason}")]
    private partial void LogAway(string name, string reason);

    [LoggerMessage(EventId = 2533, Level = LogLevel.Error, Message = "{Name} failed on this host")]
    private partial void LogFailed(string name, Exception exception);
}
