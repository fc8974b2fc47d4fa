using Esb.Delivery.Intake.Overload;
using Esb.Delivery.Polling;

namespace Esb.Endpoints.Sql.Inbound;

/// <summary>Inbound endpoint that takes rows out of a table, marked or deleted in the transaction that finds them.</summary>
/// <remarks>There is no watermark: a row is found until it is marked, so that rows which commit out of order are not missed.</remarks>
internal sealed class SqlInboundEndpoint : PollingEndpoint<RowPoll, RowPoll>
{
    private readonly SqlInboundConfig _config;
    private readonly RowDesk _desk;
    private readonly TimeProvider _time;
    private readonly SemaphoreSlim _ended = new(0, 1);
    private readonly Lock _gate = new();
    private bool _isPolling;
    private bool _isDue = true;

    public SqlInboundEndpoint(SqlInboundConfig config, RowDesk desk, Admission admission, TimeProvider time)
        : base(desk, admission)
    {
        (_config, _desk, _time) = (config, desk, time);
        desk.Ended = OnEnded;
    }

    public override string? Reason => _desk.Reason;

    protected override TimeSpan Interval => _config.Interval;

    protected override TimeSpan ShortInterval => TimeSpan.FromMilliseconds(500); // while a failed poll waits for its repetition

    protected override ValueTask<IReadOnlyList<RowPoll>> OpenAsync(CancellationToken cancellationToken) =>
        ValueTask.FromResult<IReadOnlyList<RowPoll>>([]);

    protected override ValueTask<PolledLook<RowPoll>> LookAsync(CancellationToken cancellationToken)
    {
        lock (_gate)
        {
            if (_isPolling)
                return ValueTask.FromResult(new PolledLook<RowPoll>([], HasMore: true));
            _isPolling = true;
            return ValueTask.FromResult(new PolledLook<RowPoll>([new RowPoll()], HasMore: false));
        }
    }

    protected override ValueTask<RowPoll?> ClaimAsync(RowPoll found, CancellationToken cancellationToken) =>
        ValueTask.FromResult<RowPoll?>(found);

    protected override bool IsAway(Exception failure) => false; // polls fail in the desk

    protected override TimeSpan OnAway(Exception cause, bool isFirst) =>
        throw new InvalidOperationException("Polls fail in the desk.", cause);

    protected override void OnBack() { }

    // A poll that took rows is followed at once; after one that took none the interval passes.
    protected override async Task WaitAsync(NextLook next, CancellationToken cancellationToken)
    {
        using var waiting = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var pause = Task.Delay(next.Pause, _time, waiting.Token);
        while (!pause.IsCompleted)
        {
            var ended = _ended.WaitAsync(waiting.Token);
            await Task.WhenAny(pause, ended);
            lock (_gate)
            {
                if (ended.IsCompletedSuccessfully && _isDue)
                    break;
            }

            if (ended.IsCompletedSuccessfully)
                continue;
            await waiting.CancelAsync();
            await ended.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }

        await waiting.CancelAsync();
        cancellationToken.ThrowIfCancellationRequested();
    }

    protected override ValueTask ReleaseAsync()
    {
        _ended.Dispose();
        return ValueTask.CompletedTask;
    }

    private void OnEnded(int taken)
    {
        lock (_gate)
        {
            _isPolling = false;
            _isDue = taken > 0 && _config.WhileFound;
            if (_ended.CurrentCount == 0)
                _ended.Release();
        }
    }
}
