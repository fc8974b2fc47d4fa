using Esb.Core.Audit;

namespace Esb.Storage.Evidence;

/// <summary>One verification: takes the facts day by day, each chain in its order, and collects the breaks. Not thread-safe.</summary>
/// <param name="anchors">The anchors to compare with.</param>
/// <param name="erasedUntil">Finds the time until which the facts of a message were erased, as recorded by a fact; null if no fact records
/// it.</param>
/// <param name="tell">Receives each chain.</param>
/// <param name="anchoredBefore">The day before which every chain needs an anchor; null if none does.</param>
internal sealed class Verification(
    AnchorBook anchors,
    Func<Guid, CancellationToken, Task<DateTimeOffset?>> erasedUntil,
    Action<FollowedChain> tell,
    DateOnly? anchoredBefore = null
)
{
    /// <summary>The maximum number of breaks that are reported individually.</summary>
    public const int MaxBreaks = 100;

    private readonly List<AuditBreak> _breaks = [];
    private readonly List<(DateOnly Day, FieldFlaw Flaw)> _flaws = [];
    private readonly HashSet<(DateOnly Day, Guid Chain)> _followed = [];
    private readonly Dictionary<Guid, DateTimeOffset?> _erasures = [];
    private long _facts;
    private long _unchained;
    private long _erased;
    private long _totalBreaks;

    public async Task ReadDayAsync(DateOnly day, IAsyncEnumerable<StoredLink> facts, CancellationToken cancellationToken)
    {
        (Guid Id, ChainFollower Follower)? current = null;
        await foreach (var stored in facts.WithCancellation(cancellationToken))
        {
            _facts++;
            if (stored.Chain is not { } chain)
            {
                TakeUnchained(day, stored);
                continue;
            }

            if (current?.Id != chain)
            {
                Finish(current?.Follower);
                current = (chain, new ChainFollower(chain, day, anchors.Of(day, chain), Report));
                _followed.Add((day, chain));
            }

            current.Value.Follower.Add(stored);
            if (stored.Erased is { } message)
                await TakeErasedAsync(day, stored, message, cancellationToken);
        }

        Finish(current?.Follower);
    }

    /// <summary>Adds a fact of a day, one of the first, whose indexed fields differ from its own fields.</summary>
    public void TakeFieldFlaw(DateOnly day, FieldFlaw flaw) => _flaws.Add((day, flaw));

    /// <summary>The verdict, once all days have been read. The chains come first, since missing facts are also found through what remains
    /// of them.</summary>
    public AuditVerdict Complete(DateOnly? from, DateOnly? to)
    {
        foreach (var (day, chain) in anchors.Chains(from, to).Where(key => !_followed.Contains(key)))
            Finish(new ChainFollower(chain, day, anchors.Of(day, chain), Report));
        foreach (var day in _flaws.GroupBy(found => found.Day, found => found.Flaw))
            Report(day.Key, [.. day]);
        foreach (var problem in anchors.Problems)
            Report(new AuditBreak(default, null, 0, 0, null, $"The anchors are damaged: {problem}.", null));
        return new AuditVerdict
        {
            Facts = _facts,
            Unchained = _unchained,
            Erased = _erased,
            Anchors = anchors.Count,
            Breaks = _breaks,
            TotalBreaks = _totalBreaks,
        };
    }

    private void Finish(ChainFollower? follower)
    {
        if (follower is null)
            return;
        follower.Complete();
        var result = follower.Result;
        tell(result);
        if (result.AnchoredTo is null && result.Day < anchoredBefore)
            Report(
                new AuditBreak(
                    result.Day,
                    result.Chain,
                    result.First,
                    result.Last,
                    null,
                    "The day is over, and no anchor confirms the chain: anybody who may insert can have made it.",
                    null
                )
            );
    }

    private void TakeUnchained(DateOnly day, StoredLink stored)
    {
        _unchained++;
        if (anchors.Began is { } began && day > began)
            Report(
                new AuditBreak(
                    day,
                    null,
                    0,
                    0,
                    stored.Id,
                    "A fact is in no chain, although it is younger than the first anchor: no host recorded it.",
                    null
                )
            );
    }

    private async Task TakeErasedAsync(DateOnly day, StoredLink stored, Guid message, CancellationToken cancellationToken)
    {
        _erased++;
        if (stored.IsErasureProven)
            return;
        if (!_erasures.TryGetValue(message, out var until))
            _erasures[message] = until = await erasedUntil(message, cancellationToken);
        if (until is null || stored.Fact!.Time > until)
            Report(
                new AuditBreak(
                    day,
                    stored.Chain,
                    stored.Number,
                    stored.Number,
                    stored.Id,
                    "The body is gone, and no fact tells that it was erased.",
                    null
                )
            );
    }

    private void Report(DateOnly day, IReadOnlyList<FieldFlaw> flaws)
    {
        foreach (var flaw in flaws)
        {
            var problem = flaw.IsMissed
                ? "Searches by its fields miss it: rows of audit_field were removed or changed."
                : "Searches find it by fields that it does not have: rows were added to audit_field.";
            Report(new AuditBreak(day, null, 0, 0, flaw.Fact, problem, null));
        }

        _totalBreaks += flaws[0].Total - flaws.Count;
    }

    private void Report(AuditBreak found)
    {
        _totalBreaks++;
        if (_breaks.Count < MaxBreaks)
            _breaks.Add(found);
    }
}
