using System.Runtime.CompilerServices;
using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Replays;
using Esb.Core.Storage;

namespace Esb.Host.Management.Messages;

/// <summary>Replays the messages that match a filter, in parts: a client continues at the end of the previous part, and no message is sent
/// twice.</summary>
internal sealed class AuditReplays(IAuditStore store, IAuditReplayDesk desk)
{
    /// <summary>The maximum number of messages without an explicit limit, and of one part.</summary>
    public const int MaxPart = 1_000;

    private const int MaxCounted = 100_000;

    /// <summary>Counts the messages that a replay would send; changes nothing.</summary>
    public async Task<AuditReplayPreview> PreviewAsync(AuditReplaysBody body, CancellationToken cancellationToken)
    {
        var count = await CountAsync(QueryOf(body), body.Limit ?? MaxCounted, cancellationToken);
        return new AuditReplayPreview(
            Math.Min(count, body.Limit ?? MaxCounted),
            body.Limit is null && count > MaxCounted,
            desk.ObstacleAt(EndpointOf(body), body.OutOfOrder)?.Message
        );
    }

    /// <summary>Sends the next part.</summary>
    public async Task<AuditReplayReceipt> ReplayAsync(
        AuditReplaysBody body,
        string? command,
        OperatorDecision decision,
        CancellationToken cancellationToken
    )
    {
        if (body.Again && command is null)
            throw Problems.Parameter(Operators.CommandHeader, "expected with again, so that no message is sent once for each of its facts");
        var query = QueryOf(body);
        var endpoint = EndpointOf(body);
        if (desk.ObstacleAt(endpoint, body.OutOfOrder) is { } obstacle)
            throw obstacle;
        if (body.Limit is null && await CountAsync(query, MaxPart, cancellationToken) > MaxPart)
            throw new EsbException(
                "ESB-RPL-LIMIT",
                $"The filter finds more than {MaxPart} messages; say as limit how many are meant.",
                FaultKind.Invalid
            );

        var part = new ReplayPart(body, Math.Min(body.Limit ?? MaxPart, MaxPart));
        await foreach (var fact in FactsAsync(query, cancellationToken))
        {
            if (part.EndsBefore(fact))
                return part.ToReceipt(isLast: false);
            if (!part.Pass(fact) || await WasMetAsync(body, fact.MessageId, cancellationToken))
                continue;
            var request = new AuditReplayRequest
            {
                MessageId = fact.MessageId,
                Endpoint = endpoint,
                Again = body.Again,
                OutOfOrder = body.OutOfOrder,
                Command = command,
            };
            await part.SendAsync(request, () => desk.ReplayAsync(request, decision, cancellationToken));
        }

        return part.ToReceipt(isLast: true);
    }

    // The facts of a message are interleaved with those of others: the message counts in the part that reads its newest fact.
    private async Task<bool> WasMetAsync(AuditReplaysBody body, Guid messageId, CancellationToken cancellationToken)
    {
        if (body is not { First: { } first, Before: { } before })
            return false;
        var found = store.FindAsync(QueryOf(body) with { MessageId = messageId, Before = null }, cancellationToken);
        return await found.AnyAsync(fact => fact.Id >= before && fact.Id <= first, cancellationToken);
    }

    private async Task<int> CountAsync(AuditQuery query, int limit, CancellationToken cancellationToken)
    {
        var messages = new HashSet<Guid>();
        await foreach (var fact in FactsAsync(query, cancellationToken))
        {
            if (messages.Add(fact.MessageId) && messages.Count > limit)
                break;
        }

        return messages.Count;
    }

    // Reads page by page, so that no store query is open while messages are sent.
    private async IAsyncEnumerable<AuditFact> FactsAsync(AuditQuery query, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        List<AuditFact> page;
        do
        {
            page = await store.FindAsync(query, cancellationToken).ToListAsync(cancellationToken);
            foreach (var fact in page)
                yield return fact;
            if (page.Count > 0)
                query = query with { Before = page[^1].Id };
        } while (page.Count == query.Limit);
    }

    private static AuditQuery QueryOf(AuditReplaysBody body)
    {
        if (body.Filter is null)
            throw Problems.Parameter("filter", "expected a filter; {} is one that every message passes");
        if (body.Limit is < 1 or > 1_000_000)
            throw Problems.Parameter("limit", "expected a number from 1 to 1000000");
        return body.Filter.ToQuery() with { Before = body.Before, Limit = MessageParameters.MaxLimit };
    }

    private static string EndpointOf(AuditReplaysBody body) =>
        string.IsNullOrEmpty(body.Endpoint)
            ? throw Problems.Parameter("endpoint", "expected the endpoint that gets the messages")
            : body.Endpoint;
}
