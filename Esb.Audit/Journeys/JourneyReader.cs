using Esb.Core.Audit;

namespace Esb.Audit.Journeys;

/// <summary>Reads what a journey is made of, and no more than one can be shown.</summary>
public static class JourneyReader
{
    private const int MaxOwn = 1_000;

    /// <summary>The facts of a message and of its conversation, the oldest first: one more than <see cref="Journey.MaxFacts"/> where there
    /// are more. None where nothing is recorded of the message.</summary>
    /// <param name="store">Where they are.</param>
    /// <param name="messageId">The message.</param>
    /// <param name="maxBodyBytes">The most bytes of bodies; facts for whose bodies there is no room have none.</param>
    /// <param name="cancellationToken">Stops reading.</param>
    public static async Task<IReadOnlyList<AuditFact>> ReadAsync(
        IAuditStore store,
        Guid messageId,
        long maxBodyBytes,
        CancellationToken cancellationToken
    )
    {
        var query = new AuditJourneyQuery
        {
            MessageId = messageId,
            Limit = Journey.MaxFacts + 1,
            MaxBodyBytes = maxBodyBytes,
        };
        var facts = await store.GetJourneyAsync(query, cancellationToken);
        if (facts.Count <= Journey.MaxFacts)
            return facts;

        // Of a very large conversation the message itself may lie behind the end.
        var own = await store
            .FindAsync(
                new AuditQuery
                {
                    MessageId = messageId,
                    Limit = MaxOwn,
                    WithBodies = false,
                },
                cancellationToken
            )
            .Select(fact => fact with { Body = null })
            .ToListAsync(cancellationToken);
        return [.. facts.Concat(own).DistinctBy(fact => fact.Id).OrderBy(fact => fact.Id)];
    }
}
