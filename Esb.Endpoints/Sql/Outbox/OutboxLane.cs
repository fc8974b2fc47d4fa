using System.Threading.Channels;
using Esb.Core.Errors;
using Npgsql;

namespace Esb.Endpoints.Sql.Outbox;

/// <summary>Empties one lane of an outbox repeatedly. Skips a failed key and retries it after a pause that doubles.</summary>
internal sealed class OutboxLane(OutboxPass pass, SemaphoreSlim turns, TimeProvider time)
{
    private static readonly TimeSpan FirstPause = TimeSpan.FromMilliseconds(500);
    private static readonly TimeSpan LastPause = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan BusyPause = TimeSpan.FromMilliseconds(250);
    private static readonly TimeSpan LongestStandstill = TimeSpan.FromSeconds(30);

    private readonly Channel<bool> _wake = Channel.CreateBounded<bool>(
        new BoundedChannelOptions(1) { FullMode = BoundedChannelFullMode.DropWrite }
    );
    private readonly OutboxHolds _holds = new();
    private TimeSpan _pause = FirstPause;
    private (long? First, long Since) _seen;
    private volatile string? _failure;
    private volatile string? _standstill;

    /// <summary>The obstacle that keeps messages waiting; null without one.</summary>
    public string? Obstacle => _failure ?? _standstill;

    /// <summary>Signals that there may be messages.</summary>
    public void Wake() => _wake.Writer.TryWrite(true);

    /// <summary>Publishes until the token is cancelled; then finishes the messages in progress.</summary>
    public async Task RunAsync(CancellationToken cancellationToken)
    {
        try
        {
            while (true)
            {
                await _wake.Reader.ReadAsync(cancellationToken);
                while (await ContinueAsync(cancellationToken))
                    cancellationToken.ThrowIfCancellationRequested();
            }
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            await pass.DrainAsync();
        }
    }

    // False: the lane is empty.
    private async Task<bool> ContinueAsync(CancellationToken cancellationToken)
    {
        var result = await TryPassAsync(cancellationToken);
        WatchOther(result == OutboxPassResult.Busy ? pass.First : null);
        if (result == OutboxPassResult.Busy)
            await Task.Delay(BusyPause, time, cancellationToken);
        if (result == OutboxPassResult.Published && _holds.IsEmpty)
            (_failure, _pause) = (null, FirstPause);
        if (result == OutboxPassResult.Failed || _holds.IsFull || (result == OutboxPassResult.Empty && !_holds.IsEmpty))
        {
            await Task.Delay(_pause, time, cancellationToken);
            _pause = _pause * 2 < LastPause ? _pause * 2 : LastPause;
            _holds.Clear();
            return true;
        }

        return result != OutboxPassResult.Empty;
    }

    // Under load another host may hold the lane nearly always; what counts is progress of its first message.
    private void WatchOther(long? first)
    {
        if (first is null || first != _seen.First)
            (_seen, _standstill) = ((first, time.GetTimestamp()), null);
        else if (time.GetElapsedTime(_seen.Since) >= LongestStandstill)
            _standstill = $"Another host has a lane whose first message has not moved for {LongestStandstill.TotalSeconds:0} s.";
    }

    private async Task<OutboxPassResult> TryPassAsync(CancellationToken cancellationToken)
    {
        await turns.WaitAsync(cancellationToken);
        try
        {
            var result = await pass.RunAsync(_holds, cancellationToken);
            if (pass.Failure is { } failure)
                _failure = failure;
            return result;
        }
        catch (Exception ex) when (ex is not OperationCanceledException || !cancellationToken.IsCancellationRequested)
        {
            _failure = Describe(ex); // any failure: a lane that ended would silently publish nothing more
            return OutboxPassResult.Failed;
        }
        finally
        {
            turns.Release();
        }
    }

    private static string Describe(Exception failure) =>
        failure switch
        {
            EsbException => failure.Message,
            NpgsqlException => "The database cannot be used.",
            OperationCanceledException => "The database does not answer in time.",
            _ => $"A message cannot be read or forgotten: {failure.GetType().Name}.",
        };
}
