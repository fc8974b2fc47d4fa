using Esb.Core.Audit;

namespace Esb.IntegrationTests.Storage.Audit;

/// <summary>A kind of search, asked with another value each time.</summary>
/// <param name="Name">What is asked for.</param>
/// <param name="AskAsync">Asks, and returns how many facts were found.</param>
/// <param name="IsInVain">Whether there is nothing to find.</param>
internal sealed record AuditQuestion(string Name, Func<IAuditStore, CancellationToken, Task<int>> AskAsync, bool IsInVain);

/// <summary>A fact of a generated audit.</summary>
internal sealed record AuditSample(Guid Id, DateTime Time, Guid Message, string Trace);

/// <summary>All that people search an audit for.</summary>
internal sealed class AuditQuestions(GeneratedAudit audit, IReadOnlyList<AuditSample> samples)
{
    private readonly Random _random = new(1);

    public IEnumerable<AuditQuestion> All =>
        [
            Find("a field that one message has", () => Where(("order", Order(Number())))),
            Find("a field that nothing has", () => Where(("order", $"{Order(Number())}-x")), isInVain: true),
            Find("a field that 100 messages have", () => Where(("customer", $"C-{Number() * 7919L % 20_000}"))),
            Find("a field that one message in 20 has", () => Where(("country", Country(Number())))),
            Find("a field that thousands of old messages have", () => Where(("campaign", "spring"))),
            Find("two fields, the frequent one first", () => CountryAndOrder(apart: 0)),
            Find("two fields that contradict each other", () => CountryAndOrder(apart: 1), isInVain: true),
            Find("a frequent field at a rare party", () => Where(("country", "country-3")) with { Party = "party-rare" }),
            Find("a frequent field, a page deep in", () => Where(("country", Country(Number()))) with { Before = Sample().Id }),
            Find("a message", () => new AuditQuery { MessageId = Sample().Message }),
            Find("a trace", () => new AuditQuery { TraceId = Sample().Trace }),
            Find("an endpoint", () => new AuditQuery { Endpoint = Endpoint() }),
            Find("an endpoint, a page deep in", () => new AuditQuery { Endpoint = Endpoint(), Before = Sample().Id }),
            Find("an endpoint and a minute", () => Around(new AuditQuery { Endpoint = "ledger" }, TimeSpan.FromMinutes(1))),
            Find("a rare endpoint", () => new AuditQuery { Endpoint = "rare" }),
            Find("a process", () => new AuditQuery { Process = _random.Next(2) == 0 ? "receive-order" : "cancel-order" }),
            Find("a party", () => new AuditQuery { Party = _random.Next(2) == 0 ? "party-large" : $"party-{(_random.Next(500) * 2) + 1}" }),
            Find("a rare party at an endpoint", () => new AuditQuery { Party = "party-rare", Endpoint = "shop-3" }),
            Find("a minute", () => Around(new AuditQuery(), TimeSpan.FromMinutes(1))),
            Find("what failed", () => new AuditQuery { OnlyFailures = true }),
            Find(
                "what failed at an endpoint in a day",
                () => Around(new AuditQuery { OnlyFailures = true, Endpoint = "ledger" }, TimeSpan.FromDays(1))
            ),
            Find("a rare kind", () => new AuditQuery { Kind = AuditKind.Parked }),
            Find("a kind that nothing has", () => new AuditQuery { Kind = AuditKind.Expired }, isInVain: true),
            Find("a kind that each step leaves, where none does", () => new AuditQuery { Kind = AuditKind.StepEnded }, isInVain: true),
            new(
                "a journey",
                async (store, cancellationToken) =>
                    (await store.GetJourneyAsync(new AuditJourneyQuery { MessageId = Sample().Message }, cancellationToken)).Count,
                IsInVain: false
            ),
        ];

    private static string Order(int number) => $"A-{number}";

    private static string Country(int number) => $"country-{number % 20}";

    private static AuditQuery Where(params (string Name, string Value)[] fields) =>
        new() { Where = fields.ToDictionary(field => field.Name, field => field.Value) };

    private static AuditQuestion Find(string name, Func<AuditQuery> query, bool isInVain = false) =>
        new(
            name,
            async (store, cancellationToken) =>
                await store.FindAsync(query() with { WithBodies = false }, cancellationToken).CountAsync(cancellationToken),
            isInVain
        );

    private int Number() => _random.Next(audit.Messages);

    private AuditSample Sample() => samples[_random.Next(samples.Count)];

    private string Endpoint() =>
        _random.Next(3) switch
        {
            0 => "ledger",
            1 => $"shop-{_random.Next(5)}",
            _ => $"warehouse-{_random.Next(10)}",
        };

    private AuditQuery CountryAndOrder(int apart)
    {
        var number = Number();
        return Where(("country", Country(number + apart)), ("order", Order(number)));
    }

    private AuditQuery Around(AuditQuery query, TimeSpan span)
    {
        var from = new DateTimeOffset(Sample().Time) - (span / 2);
        return query with { From = from, To = from + span };
    }
}
