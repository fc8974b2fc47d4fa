using System.Globalization;
using Esb.Core;
using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Microsoft.Extensions.Logging;

namespace Esb.Audit.Pressure;

/// <summary>Checks the free space of the spool or, in mode strict, the availability of the store, and admits messages
/// accordingly.</summary>
/// <remarks>Messages read the result of the last check, so admission costs nothing.</remarks>
internal sealed partial class AuditGate(Live<AuditConfig> config, IAuditWriter store, TimeProvider time, ILogger<AuditGate> logger)
    : IAuditGate,
        IHealthCheck,
        IBusPart,
        IDisposable
{
    private const string Unknown = "whether it can is not known";

    // A store check times out after 2 s: intake stops at most 5 s after the store becomes unavailable, and resumes 3 s after it returns.
    private static readonly TimeSpan StoreInterval = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan ShortInterval = TimeSpan.FromMilliseconds(250); // of spool checks, and while waiting
    private static readonly TimeSpan RetryAfter = TimeSpan.FromSeconds(5);

    private readonly SpoolMarks _marks = new();
    private readonly CancellationTokenSource _stopping = new();
    private Task _watching = Task.CompletedTask;
    private SpoolGauges? _gauges;
    private volatile string? _obstacle;
    private long _waitTicks;

    public string Name => "audit";

    public BusStage Stage => BusStage.Stores;

    public IReadOnlyList<Type> StartsAfter => [typeof(IStorePart)];

    public string? Obstacle => _obstacle;

    private bool IsStrict => config.Current.Mode == AuditMode.Strict;

    public Task StartAsync(CancellationToken cancellationToken)
    {
        if (store.Spool is { } spool)
            _gauges = new SpoolGauges(spool, time);
        _watching = WatchAsync(_stopping.Token);
        return Task.CompletedTask;
    }

    public async Task StopAsync(CancellationToken cancellationToken)
    {
        await _stopping.CancelAsync();
        await _watching;
    }

    public ValueTask<string?> CheckAsync(CancellationToken cancellationToken) => ValueTask.FromResult(_obstacle);

    public async ValueTask EnterAsync(CancellationToken cancellationToken)
    {
        var wait = TimeSpan.FromTicks(Interlocked.Read(ref _waitTicks));
        if (wait > TimeSpan.Zero && _obstacle is null)
            await Task.Delay(wait, time, cancellationToken);
        if (_obstacle is { } obstacle)
            throw new EsbException(
                IsStrict ? "ESB-AUD-WRITE" : "ESB-AUD-FULL",
                $"What happens to the message could not be recorded: {obstacle}.",
                FaultKind.Unavailable
            )
            {
                RetryAfter = RetryAfter,
            };
    }

    public async ValueTask WaitAsync(CancellationToken cancellationToken)
    {
        while (_obstacle is not null)
            await Task.Delay(ShortInterval, time, cancellationToken);
    }

    public void Dispose()
    {
        _gauges?.Dispose();
        _stopping.Dispose();
    }

    private async Task WatchAsync(CancellationToken stopping)
    {
        while (!stopping.IsCancellationRequested)
        {
            try
            {
                Note(await TryLookAsync(stopping));
                await Task.Delay(IsStrict && _obstacle is null ? StoreInterval : ShortInterval, time, stopping);
            }
            catch (OperationCanceledException) when (stopping.IsCancellationRequested)
            {
                return;
            }
        }
    }

    private async ValueTask<string?> TryLookAsync(CancellationToken stopping)
    {
        try
        {
            return IsStrict ? await LookAtStoreAsync(stopping)
                : store.Spool is { } spool ? LookAtSpool(spool)
                : null;
        }
        catch (Exception ex) when (ex is not OperationCanceledException || !stopping.IsCancellationRequested) // the loop must survive
        {
            if (_obstacle != Unknown)
                LogFailed(ex);
            return Unknown;
        }
    }

    private ValueTask<string?> LookAtStoreAsync(CancellationToken stopping)
    {
        Interlocked.Exchange(ref _waitTicks, 0);
        return store.CheckAsync(stopping);
    }

    private string? LookAtSpool(IAuditSpool spool)
    {
        var fill = (double)spool.Bytes / spool.MaxBytes;
        _marks.Look(fill);
        Interlocked.Exchange(ref _waitTicks, _marks.Wait.Ticks);
        return _marks.IsFull ? string.Create(CultureInfo.InvariantCulture, $"the spool is full to {100 * fill:0} %") : null;
    }

    private void Note(string? obstacle)
    {
        if (obstacle is not null && _obstacle is null)
            LogClosed(obstacle);
        if (obstacle is null && _obstacle is not null)
            LogOpen();
        _obstacle = obstacle;
    }

    [LoggerMessage(EventId = 4020, Level = LogLevel.Error, Message = "Intake and delivery paused: audit unavailable ({Obstacle})")]
    private partial void LogClosed(string obstacle);

    [LoggerMessage(EventId = 4021, Level = LogLevel.Information, Message = "Intake and delivery resumed: audit available")]
    private partial void LogOpen();

    [LoggerMessage(EventId = 4022, Level = LogLevel.Error, Message = "The audit could not be checked; trying again")]
    private partial void LogFailed(Exception exception);
}
