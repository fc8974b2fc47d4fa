using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Replays;

namespace Esb.Host.Management.Messages;

/// <summary>One part of a replay by a filter: the messages it has met, newest first, and their results. Not thread-safe.</summary>
/// <param name="body">The request, with the values that the previous part returned.</param>
/// <param name="size">The maximum number of messages to send.</param>
internal sealed class ReplayPart(AuditReplaysBody body, int size)
{
    private readonly HashSet<Guid> _known = [];
    private readonly List<RefusedReplay> _refused = [];
    private Guid? _first = body.First;
    private Guid? _last = body.Before;
    private int _replayed;

    /// <summary>True if the part is full and the fact belongs to a message that it has not met.</summary>
    public bool EndsBefore(AuditFact fact) => _replayed + _refused.Count == size && !_known.Contains(fact.MessageId);

    /// <summary>Adds a fact; returns true if it is the first fact of its message.</summary>
    public bool Pass(AuditFact fact)
    {
        _first ??= fact.Id;
        _last = fact.Id;
        return _known.Add(fact.MessageId);
    }

    /// <summary>Sends a message. A message that cannot be restored is recorded as refused, and the part continues.</summary>
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

    /// <param name="isLast">True if nothing remains for another part.</param>
    public AuditReplayReceipt ToReceipt(bool isLast) => new(_replayed, _refused, isLast ? null : _last, _first);
}
