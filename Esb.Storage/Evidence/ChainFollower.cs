using System.Security.Cryptography;
using Esb.Core.Audit;

namespace Esb.Storage.Evidence;

/// <summary>Follows one chain from its start and compares it with its anchors. After a break it continues with the link found there, so
/// that intact facts are not reported.</summary>
internal sealed class ChainFollower(Guid chain, DateOnly day, IReadOnlyCollection<Anchor> anchors, Action<AuditBreak> found)
{
    private readonly Queue<Anchor> _anchors = new(anchors.OrderBy(anchor => anchor.Count));
    private ChainHead _head = ChainHead.Start(chain, day);
    private AuditAnchor? _lastAnchor;
    private long _first;
    private long? _rowBegan; // the number of the first fact of the row that has not ended yet
    private bool _isUnreadable; // a fact of that row
    private bool _isLinkKnown = true; // false from a break to the end of its row
    private long _facts;
    private long _breaks;
    private bool _isBroken;

    public FollowedChain Result => new(day, chain, _first, _head.Number, _facts, _lastAnchor?.Number, _breaks);

    public void Add(StoredLink stored)
    {
        if (_facts++ == 0)
            _first = stored.Number;
        if (stored.Number <= _head.Number)
        {
            Report(stored.Number, stored.Number, stored.Id, "A fact has a number that another has, too.");
            return;
        }

        if (stored.Number > _head.Number + 1)
        {
            Report(_head.Number + 1, stored.Number - 1, null, "Facts are missing.");
            _isLinkKnown = false;
        }

        if (stored.Fact?.Body is { } body && !SHA256.HashData(body.Span).AsSpan().SequenceEqual(stored.BodyDigest))
            Report(stored.Number, stored.Number, stored.Id, "The body was changed.");
        var expected = _isLinkKnown && stored.Fact is { } fact ? _head.Next(FactDigest.Of(fact, stored.BodyDigest)) : null;
        _rowBegan ??= stored.Number;
        _isUnreadable |= stored.Fact is null;
        if (stored.IsCovered)
            Continue(stored.Number, expected);
        else
            EndRow(stored, expected);
    }

    public void Complete()
    {
        if (_anchors.Count > 0)
            Report(_head.Number + 1, _anchors.Max(anchor => anchor.Count), null, "Facts are missing at the end: an anchor tells of them.");
    }

    // Within a row that ends with a later fact.
    private void Continue(long number, ChainHead? expected)
    {
        _isLinkKnown = expected is not null;
        _head = expected ?? new ChainHead(number, []);
        if (_isLinkKnown)
            Compare();
    }

    private void EndRow(StoredLink stored, ChainHead? expected)
    {
        if (_isUnreadable || (_isLinkKnown && !stored.Link.AsSpan().SequenceEqual(expected?.Link)))
            Report(_rowBegan!.Value, stored.Number, stored.Id, "The fact, or its place, was changed.");
        (_rowBegan, _isUnreadable, _isLinkKnown) = (null, false, true);
        _head = new ChainHead(stored.Number, stored.Link);
        Compare();
    }

    private void Compare()
    {
        while (_anchors.TryPeek(out var anchor) && anchor.Count <= _head.Number)
        {
            _anchors.Dequeue();
            if (anchor.Count < _head.Number)
                continue; // its fact is missing, which has been reported
            if (!_head.Link.AsSpan().SequenceEqual(anchor.Head))
                Report(
                    (_lastAnchor?.Number ?? 0) + 1,
                    anchor.Count,
                    null,
                    "The chain is not the one that an anchor tells of: facts were rewritten."
                );
            else if (!_isBroken)
                _lastAnchor = new AuditAnchor(anchor.Count, anchor.At);
        }
    }

    private void Report(long from, long to, Guid? fact, string problem)
    {
        _isBroken = true;
        _breaks++;
        found(new AuditBreak(day, chain, from, to, fact, problem, _lastAnchor));
    }
}
