using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Replays;

namespace Esb.Host.Management.Messages;

/// <summary>One part of a replay by a filter: which messages it has come across, newest first, and what became of them. Not thread-safe.</summary>
/// <param name="body">What was asked for, with what the part before has answered.</param>
/// <param name="size">The most messages that it sends.</param>
internal sealed class ReplayPart(AuditReplaysBody body, int size)
{
    private readonly HashSet<Guid> _known = [];
    private readonly List<RefusedReplay> _refused = [];
    private Guid? _first = body.First;
    private Guid? _last = body.Before;
    private int _replayed;

    /// <summary>Whether the part is full, and a fact is of a message that it has not come across.</summary>
    public bool EndsBefore(AuditFact fact) => _replayed + _refused.Count == size && !_known.Contains(fact.MessageId);

    /// <summary>Notes a fact; returns whether it is the first one of its message.</summary>
    public bool Pass(AuditFact fact)
    {
        _first ??= fact.Id;
        _last = fact.Id;
        return _known.Add(fact.MessageId);
    }

    /// <summary>Sends a message; one that cannot be had is noted, and the others go on.</summary>
    public async Task SendAsync(AuditReplayRequest request, Func<Task> send)
    {
        try
        {
            await send();
            _replayed++;
        }
        catch (EsbException ex) when (ex.Code == "ESB-RPL-STATE")
        {
            _refused.Add(new RefusedReplay(request.MessageId, ex.Code, ex.Message));
        }
    }

    /// <param name="isLast">Whether nothing is left for another part.</param>
    public AuditReplayReceipt ToReceipt(bool isLast) => new(_replayed, _refused, isLast ? null : _last, _first);
}
