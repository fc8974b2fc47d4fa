using System.Text.Json;
using Esb.Core.Activities;
using Esb.Core.Audit;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Storage;

namespace Esb.Tests.Storage.TakeOver;

/// <summary>Everything that a store answers, as text: two stores that answer the same hold the same.</summary>
internal static class StoreDump
{
    private static readonly JsonSerializerOptions Format = new() { WriteIndented = true };

    /// <param name="store">The store.</param>
    /// <param name="attempts">Which messages of which endpoints are asked for their attempts.</param>
    /// <param name="activity">Which activity.</param>
    /// <param name="cancellationToken">Ends it.</param>
    public static async Task<string> OfAsync(
        Store store,
        IEnumerable<(string Endpoint, Guid Message)> attempts,
        string activity,
        CancellationToken cancellationToken
    )
    {
        var summaries = await store
            .DeadLetters.FindAsync(new DeadLetterQuery { Limit = 1000 }, cancellationToken)
            .ToListAsync(cancellationToken);
        var letters = new List<object>();
        foreach (var summary in summaries)
        {
            var found = (await store.DeadLetters.GetAsync(summary.Id, cancellationToken))!;
            letters.Add(
                new
                {
                    Summary = summary,
                    Message = Describe(found.Letter.Message),
                    found.Letter.Reason,
                    found.Letter.ExceptionType,
                    found.Letter.Attempts,
                    found.Letter.Failures,
                    found.Letter.TraceParent,
                }
            );
        }

        var parked = new List<object>();
        foreach (var key in await store.Parking.ListAsync(null, null, 1000, cancellationToken))
        {
            var messages = await store.Parking.MessagesAsync(key.Endpoint, key.Key, 0, 1000, cancellationToken);
            parked.Add(
                new
                {
                    Key = key,
                    Messages = messages.Select(message => new
                    {
                        Message = Describe(message.Message),
                        message.ParkedAt,
                        message.Failures,
                        message.DueAt,
                    }),
                }
            );
        }

        var kept = new List<KeptAttempts?>();
        foreach (var (endpoint, message) in attempts)
            kept.Add(await store.Attempts.FindAsync(endpoint, message, cancellationToken));
        var facts = await store
            .Audit.FindAsync(new AuditQuery { Limit = 1000, WithBodies = true }, cancellationToken)
            .ToListAsync(cancellationToken);
        return JsonSerializer.Serialize(
            new
            {
                Letters = letters,
                Jobs = await store.ReplayJobs.ListAsync(null, 1000, cancellationToken),
                Parked = parked,
                Attempts = kept,
                Items = await store
                    .Activities.FindAsync(new ActivityQuery { Activity = activity }, cancellationToken)
                    .Select(item => item with { Milestones = Sorted(item.Milestones), Data = Sorted(item.Data) })
                    .ToListAsync(cancellationToken),
                Facts = facts.Select(fact => new
                {
                    fact.Id,
                    fact.Kind,
                    fact.Time,
                    fact.MessageId,
                    fact.Endpoint,
                    fact.Fields,
                    Body = fact.Body is { } body ? Convert.ToHexString(body.Span) : null,
                }),
            },
            Format
        );
    }

    private static object Describe(EsbMessage message) =>
        new
        {
            message.Id,
            message.ConversationId,
            message.Subject,
            message.ContentType,
            message.CorrelationId,
            message.Key,
            message.Party,
            message.CreatedAt,
            message.Attempt,
            Headers = Sorted(new Dictionary<string, string>(message.Headers)),
            Body = Convert.ToHexString(message.Body.Bytes.Span),
        };

    private static SortedDictionary<string, T> Sorted<T>(IReadOnlyDictionary<string, T> values) =>
        new(values.ToDictionary(), StringComparer.Ordinal);
}
