using Esb.Core.Errors;
using Esb.Core.Storage;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.SingleInstance;

/// <summary>Works while it holds a lease, and waits for the lease while it does not (pattern: leader election). Thread-safe.</summary>
/// <param name="name">What is held.</param>
/// <param name="owner">Who this is, among all hosts.</param>
/// <param name="leases">Where.</param>
/// <param name="work">Runs while the lease is held, and ends soon after its token is cancelled: what is under way may finish, unless the lease is lost.</param>
/// <param name="time">Of this host.</param>
/// <param name="logger">Hears of taking and losing.</param>
internal sealed partial class LeaseHolder(
    string name, string owner, ILeaseStore leases, Func<HeldLease, CancellationToken, Task> work, TimeProvider time, ILogger<LeaseHolder> logger) : IAsyncDisposable
{
    /// <summary>How long a lease lasts that is not renewed: what a take-over waits for after a crash.</summary>
    public static readonly TimeSpan TimeToLive = TimeSpan.FromSeconds(10);

    /// <summary>How often those who wait ask: what a take-over waits for beyond the end of a lease.</summary>
    public static readonly TimeSpan AskInterval = TimeSpan.FromSeconds(1);

    // Also the longest that one question may take: a connection that died without a word must not cost a take-over.
    private static readonly TimeSpan RenewInterval = TimeToLive / 3;

    private readonly CancellationTokenSource _stopping = new();
    private readonly TaskCompletionSource _standsBy = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private Task _running = Task.CompletedTask;
    private volatile HeldLease? _held;
    private volatile string? _trouble;

    /// <summary>Whether the lease is certainly held at this moment.</summary>
    public bool IsHeld => _held?.IsHeld == true;

    /// <summary>Why nobody can tell who holds it; null where the store answers.</summary>
    public string? Trouble => _trouble;

    /// <summary>Ends once it is known for the first time that this host is not the one, or nobody could tell.</summary>
    public Task StandsBy => _standsBy.Task;

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
                var lease = await AskAsync(token => leases.AcquireAsync(name, owner, TimeToLive, token), stopping);
                if (lease is not null) await HoldAsync(lease, asked, stopping);
                _standsBy.TrySetResult();
                await Task.Delay(lease is null ? AskInterval : RenewInterval, time, stopping); // after work that failed others go first
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

    // Ends when the lease is lost, or the work has ended: also of a host that stops, as what is under way may take longer than the lease.
    private async Task RenewAsync(HeldLease held, Task working)
    {
        for (var pause = RenewInterval; ;)
        {
            if (await Task.WhenAny(working, Task.Delay(pause, time, held.Ended)) == working || !held.IsHeld) return;
            var asked = time.GetTimestamp();
            var renewed = await AskAsync<bool?>(async token => await leases.RenewAsync(held.Lease, TimeToLive, token), held.Ended);
            if (renewed == false) return;
            if (renewed == true) held.Extend(asked);
            pause = renewed == true ? RenewInterval : AskInterval;
        }
    }

    // Default where nobody can tell: the store is away, or does not answer in time.
    private async Task<T?> AskAsync<T>(Func<CancellationToken, Task<T>> ask, CancellationToken cancellationToken)
    {
        // The question itself does not hear of the end of the lease: to cancel it may block, and others must hear of that end at once.
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
        catch (Exception ex) when (ex is not OperationCanceledException) // whatever it is: who ends here would stand by until the next start, without a word
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
            // asked to end
        }
    }

    private async Task GiveBackAsync(Lease lease)
    {
        using var limit = new CancellationTokenSource(RenewInterval, time);
        try
        {
            await leases.ReleaseAsync(lease, limit.Token).WaitAsync(limit.Token);
        }
        catch (Exception ex) // whatever it is: the lease runs out by itself
        {
            LogAway(name, ex.Message, ex is EsbException or OperationCanceledException ? null : ex);
        }
    }

    // Once, however often it is asked.
    private void Complain(string reason, Exception? unforeseen = null)
    {
        if (_trouble is null) LogAway(name, reason, unforeseen);
        _trouble = reason;
    }

    [LoggerMessage(EventId = 2530, Level = LogLevel.Information, Message = "{Endpoint} runs on this host from now on (token {Token})")]
    private partial void LogTaken(string endpoint, long token);

    [LoggerMessage(EventId = 2531, Level = LogLevel.Information, Message = "{Endpoint} does not run on this host any more")]
    private partial void LogEnded(string endpoint);

    [LoggerMessage(EventId = 2532, Level = LogLevel.Warning, Message = "who runs {Endpoint} cannot be found out: {Reason}")]
    private partial void LogAway(string endpoint, string reason, Exception? unforeseen);

    [LoggerMessage(EventId = 2533, Level = LogLevel.Error, Message = "{Endpoint} failed on this host")]
    private partial void LogFailed(string endpoint, Exception exception);
}
