using System.Runtime.CompilerServices;

namespace Esb.Storage.Evidence;

/// <summary>The links that follow from a sound chain, of facts that have none of their own.</summary>
internal static class ChainLinks
{
    /// <summary>The same facts, each with a link.</summary>
    /// <param name="day">Their day.</param>
    /// <param name="facts">The facts of sound chains, each chain whole and in its order.</param>
    /// <param name="cancellationToken">Ends it.</param>
    public static async IAsyncEnumerable<StoredLink> CompleteAsync(
        DateOnly day,
        IAsyncEnumerable<StoredLink> facts,
        [EnumeratorCancellation] CancellationToken cancellationToken
    )
    {
        (Guid Chain, ChainHead Head)? last = null;
        await foreach (var stored in facts.WithCancellation(cancellationToken))
        {
            if (stored.Chain is not { } chain)
            {
                yield return stored;
                continue;
            }

            var before = last is { } known && known.Chain == chain ? known.Head : ChainHead.Start(chain, day);
            var head = stored is { IsCovered: true, Fact: { } fact }
                ? before.Next(FactDigest.Of(fact, stored.BodyDigest))
                : new ChainHead(stored.Number, stored.Link);
            last = (chain, head);
            yield return stored with
            {
                Link = head.Link,
                IsCovered = false,
            };
        }
    }
}
