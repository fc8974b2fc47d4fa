using System.Text.Json;
using Esb.Core.Audit;
using Esb.Storage.Bodies;
using Esb.Storage.Evidence;
using Esb.Storage.Sql;

namespace Esb.Storage.Postgres.Audit;

/// <summary>A row of <c>audit_event</c>.</summary>
internal sealed record PostgresAuditRow
{
    public Guid Id { get; init; }

    public DateTime OccurredAt { get; init; }

    public string Kind { get; init; } = "";

    public Guid MessageId { get; init; }

    public Guid ConversationId { get; init; }

    public Guid? CausedBy { get; init; }

    public string? Endpoint { get; init; }

    public string? Process { get; init; }

    public string? Step { get; init; }

    public string? Name { get; init; }

    public string? Subject { get; init; }

    public int Attempt { get; init; }

    /// <summary>Null also where <see cref="HasOddDuration"/>.</summary>
    public TimeSpan? Duration { get; init; }

    /// <summary>True if the row holds a duration that this program did not write.</summary>
    public bool HasOddDuration { get; init; }

    public string? Code { get; init; }

    public string? Reason { get; init; }

    public string? TraceId { get; init; }

    public string? Party { get; init; }

    public string? Host { get; init; }

    public string? Revision { get; init; }

    public string? Fields { get; init; }

    public string? Headers { get; init; }

    public string? ContentType { get; init; }

    public byte[]? Body { get; init; }

    public string? BodyEncoding { get; init; }

    public string? BodyState { get; init; }

    public long? BodyLength { get; init; }

    public byte[]? BodyHash { get; init; }

    public byte[]? BodyDigest { get; init; }

    public Guid? Chain { get; init; }

    public long? Number { get; init; }

    public byte[]? Link { get; init; }

    /// <summary>True if there is no body, whether it was asked for or not.</summary>
    public bool HasNoBody { get; init; }

    /// <summary>Null where the row is one fact.</summary>
    public Guid? FirstId { get; init; }

    public int? PartKinds { get; init; }

    public byte[]? Parts { get; init; }

    /// <summary>The facts of the row, in the order of their ids. A row that is damaged is returned as one fact, from its columns: no search
    /// fails, and verification reports it.</summary>
    public IReadOnlyList<AuditFact> ToFacts()
    {
        var recorded = Parts is null
            ? [(ToSingle(), BodyDigest)]
            : TryReadParts(Body) ?? TryReadParts(bodies: null) ?? [(ToSingle(), null)];
        return
        [
            .. recorded.Select(one =>
                HasNoBody && one.BodyDigest is not null ? one.Fact with { BodyState = AuditBodyState.Erased } : one.Fact
            ),
        ];
    }

    /// <summary>The ids of its facts; of a row that cannot be read, its own.</summary>
    public IEnumerable<Guid> ToIds() =>
        Parts is not null && TryReadParts(bodies: null) is { } facts ? facts.Select(one => one.Fact.Id) : [Id];

    /// <summary>Converts the row to facts with their places, for verification; accepts any content. Only the last one of a row has a
    /// link.</summary>
    public IEnumerable<StoredLink> ToLinks()
    {
        var place = new StoredLink
        {
            Id = Id,
            Fact = null,
            BodyDigest = BodyDigest,
            Chain = Chain,
            Number = Number ?? 0,
            Link = Link ?? [],
        };
        var facts = TryRead();
        var count = facts?.Count ?? (Parts is { Length: > 2 } parts ? Math.Clamp((int)parts[1], 1, PostgresFactGroups.MostFacts) : 1);
        return Enumerable
            .Range(0, count)
            .Select(index =>
                place with
                {
                    Id = facts?[index].Fact.Id ?? Id,
                    Fact = facts?[index].Fact,
                    BodyDigest = facts is null ? BodyDigest : facts[index].BodyDigest,
                    Number = place.Number + index,
                    IsCovered = index < count - 1,
                    Link = index < count - 1 ? [] : place.Link,
                }
            );
    }

    private IReadOnlyList<(AuditFact Fact, byte[]? BodyDigest)>? TryRead()
    {
        if (HasOddDuration || !IsNameOf<AuditKind>(Kind) || (BodyState is not null && !IsNameOf<AuditBodyState>(BodyState)))
            return null;
        try
        {
            var facts = Parts is null ? [(ToSingle(), BodyDigest)] : PostgresParts.Read(Parts, ToSingle(), Body);
            var isIntact = Parts is null ? this is { FirstId: null, PartKinds: null } : IsOf(facts);
            return isIntact ? facts : null;
        }
        catch (Exception ex) when (IsUnreadable(ex))
        {
            return null; // not written by this program
        }
    }

    // What has a column and is in the facts is in both, and what only a single fact has in no column.
    private bool IsOf(IReadOnlyList<(AuditFact Fact, byte[]? BodyDigest)> facts) =>
        FirstId == facts[0].Fact.Id
        && PartKinds == PostgresFactGroups.KindsOf(facts.Select(recorded => recorded.Fact))
        && this
            is {
                Attempt: 0,
                CausedBy: null,
                Step: null,
                Name: null,
                Subject: null,
                Duration: null,
                Code: null,
                Reason: null,
                Headers: null,
                ContentType: null,
                BodyState: null,
                BodyLength: null,
                BodyHash: null,
                BodyEncoding: null,
                BodyDigest: null,
            };

    private IReadOnlyList<(AuditFact Fact, byte[]? BodyDigest)>? TryReadParts(byte[]? bodies)
    {
        try
        {
            return PostgresParts.Read(Parts!, ToSingle(), bodies);
        }
        catch (Exception ex) when (IsUnreadable(ex))
        {
            return null;
        }
    }

    private AuditFact ToSingle()
    {
        var fact = new AuditFact
        {
            Id = Id,
            Time = new DateTimeOffset(OccurredAt),
            Kind = Enum.Parse<AuditKind>(Kind),
            MessageId = MessageId,
            ConversationId = ConversationId,
            CausedBy = CausedBy,
            Endpoint = Endpoint,
            Process = Process,
            Step = Step,
            Name = Name,
            Subject = Subject,
            Attempt = Attempt,
            Duration = Duration,
            Code = Code,
            Reason = Reason,
            TraceId = TraceId,
            Party = Party,
            Host = Host,
            Revision = Revision,
            Headers = Headers is null ? null : StoredJson.Fields(Headers),
            ContentType = ContentType,
            // a plain null would become no bytes
            Body = Body is null || Parts is not null ? null : (ReadOnlyMemory<byte>?)new PackedBody(BodyEncoding, Body).Unpack(),
            BodyState = BodyState is null ? null : Enum.Parse<AuditBodyState>(BodyState),
            BodyLength = BodyLength,
            BodyHash = BodyHash is null ? null : (ReadOnlyMemory<byte>?)BodyHash,
        };
        return Fields is null || StoredJson.TryFields(Fields) is not { } fields ? fact : fact with { Fields = fields };
    }

    private static bool IsUnreadable(Exception exception) =>
        exception is ArgumentException or InvalidDataException or JsonException or OverflowException;

    // As it is written, and nothing else: searches compare the text, so a number or a blank would hide the row from them.
    private static bool IsNameOf<T>(string name)
        where T : struct, Enum => Enum.TryParse<T>(name, out var value) && Enum.GetName(value) == name;
}
