using Esb.Core.Errors;
using Esb.Core.Storage;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.SingleInstance;

/// <summary>Runs work while it holds a lease, and waits for the lease otherwise (pattern: leader election). Thread-safe.</summary>
/// <param name="name">The name of the lease.</param>
/// <param name="owner">The identity of this host among all hosts.</param>
/// <param name="leases">The lease store.</param>
/// <param name="work">Runs while the lease is held, and ends soon after its token is cancelled: operations in progress may finish, unless
/// the lease is lost.</param>
/// <param name="time">The clock of this host.</param>
/// <param name="logger">Logs take-over and loss.</param>
internal sealed partial class LeaseHolder(
    string name,
    string owner,
    ILeaseStore leases,
    Func<HeldLease, CancellationToken, Task> work,
    TimeProvider time,
    ILogger<LeaseHolder> logger
) : IAsyncDisposable
{
    /// <summary>The lifetime of a lease that is not renewed, and so the delay of a take-over after a crash.</summary>
    public static readonly TimeSpan TimeToLive = TimeSpan.FromSeconds(10);

    /// <summary>The polling interval of hosts that wait for the lease, and so the further delay of a take-over after a lease
    /// ends.</summary>
    public static readonly TimeSpan AskInterval = TimeSpan.FromSeconds(1);

    // Also the time limit of a single request, so that a dead connection does not cost the lease.
    private static readonly TimeSpan RenewInterval = TimeToLive / 3;

    private readonly CancellationTokenSource _stopping = new();
    private readonly TaskCompletionSource _standsBy = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private Task _running = Task.CompletedTask;
    private volatile HeldLease? _held;
    private volatile string? _trouble;

    /// <summary>True if the lease is certainly held now.</summary>
    public bool IsHeld => _held?.IsHeld == true;

    /// <summary>The reason why the holder of the lease is unknown; null if the store answers.</summary>
    public string? Trouble => _trouble;

    /// <summary>Completes once it is first known that this host does not hold the lease, or that the holder is unknown.</summary>
    public Task StandsBy => _standsBy.Task;

    public void Start() => _running = RunAsync(_stopping.Token);

    /// <summary>Ends the work and releases the lease.</summary>
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
                var lease = await AskAsync(token => leases.AcquireAsync(name, owner, TimeToLive, token), stopping);
                if (lease is not null)
                    await HoldAsync(lease, asked, stopping);
                _standsBy.TrySetResult();
                await Task.Delay(lease is null ? AskInterval : RenewInterval, time, stopping); // after a failure other hosts go first
            }
        }
        catch (OperationCanceledException) when (stopping.IsCancellationRequested)
        {
            // disposed
        }
    }

    private async Task HoldAsync(Lease lease, long asked, CancellationToken stopping)
    {
        using var held = new HeldLease(lease, asked, TimeToLive, time);
        using var ending = CancellationTokenSource.CreateLinkedTokenSource(stopping, held.Ended);
        _held = held;
        LogTaken(name, lease.Token);
        var working = WorkAsync(held, ending.Token);
        try
        {
            await RenewAsync(held, working);
        }
        finally
        {
            held.Lose();
            await working;
            _held = null;
            LogEnded(name);
            await GiveBackAsync(lease);
        }
    }

    // Ends when the lease is lost or the work has ended. Renews also while the host stops, because operations in progress may outlast the
    // lease.
    private async Task RenewAsync(HeldLease held, Task working)
    {
        for (var pause = RenewInterval; ; )
        {
            if (await Task.WhenAny(working, Task.Delay(pause, time, held.Ended)) == working || !held.IsHeld)
                return;
            var asked = time.GetTimestamp();
            var renewed = await AskAsync<bool?>(async token => await leases.RenewAsync(held.Lease, TimeToLive, token), held.Ended);
            if (renewed == false)
                return;
            if (renewed == true)
                held.Extend(asked);
            pause = renewed == true ? RenewInterval : AskInterval;
        }
    }

    // Returns the default if the holder is unknown: the store is unreachable, or does not answer in time.
    private async Task<T?> AskAsync<T>(Func<CancellationToken, Task<T>> ask, CancellationToken cancellationToken)
    {
        // The request is not linked to the end of the lease: cancelling it may block, and other listeners must learn of that end at once.
        var late = new CancellationTokenSource(RenewInterval, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(late.Token, cancellationToken);
        try
        {
            var answer = await ask(late.Token).WaitAsync(either.Token);
            _trouble = null;
            return answer;
        }
        catch (EsbException ex)
        {
            Complain(ex.Message);
            return default;
        }
        catch (OperationCanceledException) when (late.IsCancellationRequested || !_stopping.IsCancellationRequested)
        {
            Complain("The store did not answer in time.");
            return default;
        }
        // any exception: otherwise this host would silently stand by until a restart
        catch (Exception ex) when (ex is not OperationCanceledException)
        {
            Complain("The store cannot be used.", ex);
            return default;
        }
        finally
        {
            _ = late.CancelAsync();
        }
    }

    private async Task WorkAsync(HeldLease held, CancellationToken ending)
    {
        try
        {
            await work(held, ending);
        }
        catch (Exception ex) when (ex is not OperationCanceledException || !ending.IsCancellationRequested)
        {
            LogFailed(name, ex);
        }
        catch (OperationCanceledException)
        {
            // work ended on cancellation
        }
    }

    private async Task GiveBackAsync(Lease lease)
    {
        using var limit = new CancellationTokenSource(RenewInterval, time);
        try
        {
            await leases.ReleaseAsync(lease, limit.Token).WaitAsync(limit.Token);
        }
        catch (Exception ex) // any exception: the lease expires by itself
        {
            LogAway(name, ex.Message, ex is EsbException or OperationCanceledException ? null : ex);
        }
    }

    // Logged once per outage.
    private void Complain(string reason, Exception? unforeseen = null)
    {
        if (_trouble is null)
            LogAway(name, reason, unforeseen);
        _trouble = reason;
    }

    [LoggerMessage(EventId = 2530, Level = LogLevel.Information, Message = "{Endpoint} runs on this host from now on (token {Token})")]
    private partial void LogTaken(string endpoint, long token);

    [LoggerMessage(EventId = 2531, Level = LogLevel.Information, Message = "{Endpoint} does not run on this host any more")]
    private partial void LogEnded(string endpoint);

    [LoggerMessage(EventId = 2532, Level = LogLevel.Warning, Message = "The host that runs {Endpoint} cannot be determined: {Reason}")]
    private partial void LogAway(string endpoint, string reason, Exception? unforeseen);

    [LoggerMessage(EventId = 2533, Level = LogLevel.Error, Message = "{Endpoint} failed on this host")]
    private partial void LogFailed(string endpoint, Exception exception);
}
