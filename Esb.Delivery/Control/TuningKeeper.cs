using Esb.Core;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Core.Topics;

namespace Esb.Delivery.Control;

/// <summary>Loads the tuned settings before the endpoints start, and follows the changes of other hosts.</summary>
/// <remarks>Where the store is shared it is read again periodically, so that a host that missed a command catches up. Otherwise a host
/// that joins asks the hosts that run longer.</remarks>
internal sealed class TuningKeeper(
    ITuningStore store,
    ITuningCopy copy,
    StoreConfig config,
    TuningBook book,
    FarmTuning tuning,
    IFarm farm,
    TimeProvider time
) : IOutboundGround, IDisposable
{
    /// <summary>The time between two looks at the store.</summary>
    public static readonly TimeSpan Interval = TimeSpan.FromSeconds(5);

    private static readonly TimeSpan AnswerTime = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan StartLimit = TimeSpan.FromSeconds(5);

    private readonly CancellationTokenSource _stopping = new();
    private readonly DateTimeOffset _since = time.GetUtcNow();
    private bool _hasAsked = config.IsShared;
    private IDisposable? _answering;
    private Task _following = Task.CompletedTask;

    public BusStage Stage => BusStage.Outbound;

    public async Task StartAsync(CancellationToken cancellationToken)
    {
        using var limit = new CancellationTokenSource(StartLimit, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(limit.Token, cancellationToken);
        if (await ReadAsync(either.Token) is null)
            await tuning.LoadAsync(copy.Read(), book.Changes, cancellationToken); // the store is away
        await AskAsync(cancellationToken);
        _answering = farm.Answer<AskTuning, TuningKnown>(
            (question, _) => Task.FromResult(new TuningKnown(_since < question.Since ? book.All : null))
        );
        _following = FollowAsync(_stopping.Token);
    }

    public async Task StopAsync(CancellationToken cancellationToken)
    {
        _answering?.Dispose();
        await _stopping.CancelAsync();
        await _following;
    }

    public void Dispose() => _stopping.Dispose();

    private async Task FollowAsync(CancellationToken stopping)
    {
        try
        {
            while (true)
            {
                await Task.Delay(Interval, time, stopping);
                if (!await book.KeepAsync(stopping))
                    continue;
                if (config.IsShared)
                    await ReadAsync(stopping);
                else
                    await AskAsync(stopping);
            }
        }
        catch (OperationCanceledException) when (stopping.IsCancellationRequested)
        {
            // The host stops.
        }
    }

    private async Task<IReadOnlyList<TunedSetting>?> ReadAsync(CancellationToken cancellationToken)
    {
        try
        {
            var asOf = book.Changes;
            var settings = await store.ListAsync(cancellationToken);
            await tuning.LoadAsync(settings, asOf, cancellationToken);
            return settings;
        }
        catch (Exception ex) when (ex is EsbException || (ex is OperationCanceledException && !_stopping.IsCancellationRequested))
        {
            return null; // the store reports that it is away
        }
    }

    // Other hosts are not known at once.
    private async Task AskAsync(CancellationToken cancellationToken)
    {
        if (_hasAsked || farm.Hosts.Count < 2)
            return;
        try
        {
            var answers = await farm.AskOthersAsync<AskTuning, TuningKnown>(new AskTuning(_since), AnswerTime, cancellationToken);
            _hasAsked = answers.Answers.Count > 0;
            if (answers.Answers.Select(answer => answer.Answer.Settings).FirstOrDefault(settings => settings is not null) is not { } known)
                return;
            foreach (var endpoint in known.Concat(book.All).Select(one => one.Endpoint).Distinct().ToList())
                await book.SetAsync(endpoint, [.. known.Where(one => one.Endpoint == endpoint)], cancellationToken);
            await tuning.ApplyAsync(cancellationToken);
        }
        catch (EsbException)
        {
            return; // asks again
        }
    }
}
