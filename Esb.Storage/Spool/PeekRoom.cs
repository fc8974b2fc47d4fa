using Esb.Core.Audit;

namespace Esb.Storage.Spool;

/// <summary>How much is taken out of a spool at once: so many facts, and so many bytes of bodies, which may be small while they are packed
/// and very large in memory.</summary>
/// <param name="maxFacts">The most facts.</param>
internal sealed class PeekRoom(int maxFacts)
{
    private const long MaxBodyBytes = 16 << 20;

    private int _facts;
    private long _bytes;

    /// <summary>Whether no further fact should be taken; the last one may exceed it.</summary>
    public bool IsFull => _facts >= maxFacts || _bytes >= MaxBodyBytes;

    public void Take(AuditFact fact)
    {
        _facts++;
        _bytes += fact.Body?.Length ?? 0;
    }
}
