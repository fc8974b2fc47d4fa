using Esb.Core.Audit;

namespace Esb.Tests.Audit.Journeys;

/// <summary>Facts of a conversation, written down one after the other; ids and times are always the same.</summary>
internal sealed class Story
{
    public const string HostA = "host-a:101";
    public const string HostB = "host-b:202";

    private static readonly DateTimeOffset Begin = new(2026, 3, 1, 12, 0, 0, TimeSpan.Zero);

    private readonly List<AuditFact> _facts = [];
    private TimeSpan _now;

    public IReadOnlyList<AuditFact> Facts => _facts;

    /// <summary>The conversation; the id of its first message.</summary>
    public Guid Conversation { get; } = MessageId(1);

    /// <summary>The host of what comes next; null as older facts have it.</summary>
    public string? Host { get; set; } = HostA;

    public static Guid MessageId(int number) => Guid.Parse($"01950000-0000-7000-8000-{number:x12}");

    /// <summary>The orders sample: in by HTTP, through a process, published.</summary>
    public static Story OfOrder(string subject = "orders.accepted")
    {
        var story = new Story();
        return story
            .Add(AuditKind.Received, 1, fact => fact with { Endpoint = "orders-in", Process = "receive-order", Party = "shop" })
            .After(4)
            .Add(
                AuditKind.Recorded,
                1,
                fact =>
                    fact with
                    {
                        Endpoint = "orders-in",
                        Process = "receive-order",
                        Name = "order-accepted",
                        Fields = new Dictionary<string, string> { ["order"] = "A-1001" },
                    }
            )
            .After(8)
            .Add(
                AuditKind.Published,
                1,
                fact => fact with { Endpoint = "orders-in", Process = "receive-order", Subject = subject, Duration = Ms(3) }
            );
    }

    public Story After(double milliseconds)
    {
        _now += Ms(milliseconds);
        return this;
    }

    public Story On(string? host)
    {
        Host = host;
        return this;
    }

    public Story Add(AuditKind kind, int message, Func<AuditFact, AuditFact>? more = null)
    {
        var fact = new AuditFact
        {
            Id = Guid.Parse($"01951111-0000-7000-8000-{_facts.Count + 1:x12}"),
            Kind = kind,
            Time = Begin + _now,
            MessageId = MessageId(message),
            ConversationId = Conversation,
            Host = Host,
            Revision = Host is null ? null : "3f2a9c1d0b7e",
        };
        _facts.Add(more is null ? fact : more(fact));
        return this;
    }

    /// <summary>An attempt of an endpoint that has just ended.</summary>
    public Story Try(
        AuditKind kind,
        int message,
        string endpoint,
        int attempt,
        string? code = null,
        double took = 5,
        string subject = "orders.accepted"
    ) =>
        Add(
            kind,
            message,
            fact =>
                fact with
                {
                    Endpoint = endpoint,
                    Subject = subject,
                    Attempt = attempt,
                    Duration = Ms(took),
                    Code = code,
                    Reason = code is null ? null : "The outside answered 503.",
                }
        );

    /// <summary>A dead letter that has just been kept.</summary>
    public Story GiveUp(int message, string endpoint, int attempts, string code) =>
        Add(
            AuditKind.DeadLettered,
            message,
            fact =>
                fact with
                {
                    Endpoint = endpoint,
                    Subject = "orders.accepted",
                    Attempt = attempts,
                    Code = code,
                    Reason = "The outside answered 503.",
                }
        );

    public Story Replay(int message, string endpoint, params (string Name, string Value)[] fields) =>
        Add(
            AuditKind.Replayed,
            message,
            fact =>
                fact with
                {
                    Endpoint = endpoint,
                    Subject = "orders.accepted",
                    Reason = "the shop is back",
                    Fields = fields.Append(("operator", "ada")).ToDictionary(field => field.Item1, field => field.Item2),
                }
        );

    public static TimeSpan Ms(double milliseconds) => TimeSpan.FromMilliseconds(milliseconds);
}
