using Esb.Core.Audit;
using Esb.Storage.Bodies;

namespace Esb.Storage.Files;

/// <summary>The binary form of facts that are kept together: a version, their number, then each. A member equal to that of the fact before
/// is one bit; kinds are numbers.</summary>
/// <remarks>Bits and numbers must never change their meaning. A bit, kind or state that is unknown was written by a later
/// version.</remarks>
internal static class FactForm
{
    /// <summary>Begins a record of this form. A record of JSON begins with 1; 2 was never written.</summary>
    public const byte Version = 3;

    private const int MostParts = 10_000;

    private static readonly IReadOnlyDictionary<string, string> NoFields = new Dictionary<string, string>();
    private static readonly int Kinds = Enum.GetValues<AuditKind>().Length;
    private static readonly int BodyStates = Enum.GetValues<AuditBodyState>().Length;

    [Flags]
    private enum Member : uint
    {
        Offset = 1 << 0,
        MessageId = 1 << 1,
        ConversationId = 1 << 2,
        CausedBy = 1 << 3,
        Endpoint = 1 << 4,
        Process = 1 << 5,
        Step = 1 << 6,
        Name = 1 << 7,
        Subject = 1 << 8,
        Attempt = 1 << 9,
        Duration = 1 << 10,
        Code = 1 << 11,
        Reason = 1 << 12,
        TraceId = 1 << 13,
        Party = 1 << 14,
        Host = 1 << 15,
        Revision = 1 << 16,
        Fields = 1 << 17,
        Headers = 1 << 18,
        ContentType = 1 << 19,
        Body = 1 << 20,
        PackedBody = 1 << 21,
        BodyState = 1 << 22,
        BodyLength = 1 << 23,
        BodyHash = 1 << 24,
        All = (1 << 25) - 1,
    }

    /// <param name="facts">The facts.</param>
    /// <param name="buffer">Receives the record.</param>
    /// <param name="before">Taken for the fact before the first, which need not repeat what both have in common; null for none.</param>
    public static void Write(IReadOnlyList<AuditFact> facts, FactBuffer buffer, AuditFact? before = null)
    {
        buffer.Add(Version);
        buffer.AddSmall((ulong)facts.Count);
        foreach (var fact in facts)
        {
            Write(fact, before, buffer);
            before = fact;
        }
    }

    /// <exception cref="InvalidDataException">It was written by a later version.</exception>
    public static IReadOnlyList<AuditFact> Read(ReadOnlySpan<byte> payload)
    {
        var bytes = new FactBytes(payload);
        return Read(ref bytes, before: null);
    }

    /// <summary>Reads a record that other bytes may follow.</summary>
    /// <param name="bytes">Begin with the record.</param>
    /// <param name="before">The same as it was written with.</param>
    /// <exception cref="InvalidDataException">It was written by a later version.</exception>
    public static IReadOnlyList<AuditFact> Read(ref FactBytes bytes, AuditFact? before)
    {
        var facts = new AuditFact[CountOf(ref bytes)];
        for (var i = 0; i < facts.Length; i++)
            facts[i] = before = ReadNext(ref bytes, before);
        return facts;
    }

    /// <summary>How many facts a record holds; 0 where it is of another form.</summary>
    public static int Count(ReadOnlySpan<byte> payload)
    {
        if (payload.IsEmpty || payload[0] != Version)
            return 0;
        var bytes = new FactBytes(payload);
        return CountOf(ref bytes);
    }

    private static int CountOf(ref FactBytes bytes)
    {
        if (bytes.Byte() != Version)
            throw new InvalidDataException("The record was written by a later version.");
        return bytes.Count() is > 0 and <= MostParts and var count ? count : throw new InvalidDataException("The record holds no facts.");
    }

    private static void Write(AuditFact fact, AuditFact? before, FactBuffer buffer)
    {
        var packed = fact.Body is { } body ? PackedBody.Pack(body) : default;
        var has = MembersOf(fact, packed.Encoding);
        var same = before is null ? default : has & SameMembers(fact, before);
        buffer.Add((byte)fact.Kind);
        buffer.AddSmall((uint)has);
        buffer.AddSmall((uint)same);
        buffer.Add(fact.Id);
        if (before is null)
            buffer.Add(fact.Time.UtcTicks);
        else
            buffer.AddNear(fact.Time.UtcTicks - before.Time.UtcTicks);

        var own = has & ~same;
        if (Has(own, Member.Offset))
            buffer.AddNear((long)fact.Time.Offset.TotalMinutes);
        if (Has(own, Member.MessageId))
            buffer.Add(fact.MessageId);
        if (Has(own, Member.ConversationId))
            buffer.Add(fact.ConversationId);
        if (Has(own, Member.CausedBy))
            buffer.Add(fact.CausedBy!.Value);
        if (Has(own, Member.Endpoint))
            buffer.Add(fact.Endpoint!);
        if (Has(own, Member.Process))
            buffer.Add(fact.Process!);
        if (Has(own, Member.Step))
            buffer.Add(fact.Step!);
        if (Has(own, Member.Name))
            buffer.Add(fact.Name!);
        if (Has(own, Member.Subject))
            buffer.Add(fact.Subject!);
        if (Has(own, Member.Attempt))
            buffer.AddNear(fact.Attempt);
        if (Has(own, Member.Duration))
            buffer.AddNear(fact.Duration!.Value.Ticks);
        if (Has(own, Member.Code))
            buffer.Add(fact.Code!);
        if (Has(own, Member.Reason))
            buffer.Add(fact.Reason!);
        if (Has(own, Member.TraceId))
            buffer.Add(fact.TraceId!);
        if (Has(own, Member.Party))
            buffer.Add(fact.Party!);
        if (Has(own, Member.Host))
            buffer.Add(fact.Host!);
        if (Has(own, Member.Revision))
            buffer.Add(fact.Revision!);
        if (Has(own, Member.Fields))
            Write(fact.Fields, buffer);
        if (Has(own, Member.Headers))
            Write(fact.Headers!, buffer);
        if (Has(own, Member.ContentType))
            buffer.Add(fact.ContentType!);
        if (Has(own, Member.Body))
            buffer.Add(packed.Bytes.Span);
        if (Has(own, Member.BodyState))
            buffer.Add((byte)fact.BodyState!.Value);
        if (Has(own, Member.BodyLength))
            buffer.AddNear(fact.BodyLength!.Value);
        if (Has(own, Member.BodyHash))
            buffer.Add(fact.BodyHash!.Value.Span);
    }

    private static void Write(IReadOnlyDictionary<string, string> values, FactBuffer buffer)
    {
        buffer.AddSmall((ulong)values.Count);
        foreach (var (name, value) in values)
        {
            buffer.Add(name);
            buffer.Add(value);
        }
    }

    // The conversation of most messages is their own: then the bit is not set.
    private static Member MembersOf(AuditFact fact, string? encoding) =>
        Member.MessageId
        | If(fact.Time.Offset != TimeSpan.Zero, Member.Offset)
        | If(fact.ConversationId != fact.MessageId, Member.ConversationId)
        | If(fact.CausedBy is not null, Member.CausedBy)
        | If(fact.Endpoint is not null, Member.Endpoint)
        | If(fact.Process is not null, Member.Process)
        | If(fact.Step is not null, Member.Step)
        | If(fact.Name is not null, Member.Name)
        | If(fact.Subject is not null, Member.Subject)
        | If(fact.Attempt != 0, Member.Attempt)
        | If(fact.Duration is not null, Member.Duration)
        | If(fact.Code is not null, Member.Code)
        | If(fact.Reason is not null, Member.Reason)
        | If(fact.TraceId is not null, Member.TraceId)
        | If(fact.Party is not null, Member.Party)
        | If(fact.Host is not null, Member.Host)
        | If(fact.Revision is not null, Member.Revision)
        | If(fact.Fields.Count > 0, Member.Fields)
        | If(fact.Headers is not null, Member.Headers)
        | If(fact.ContentType is not null, Member.ContentType)
        | If(fact.Body is not null, Member.Body)
        | If(encoding is not null, Member.PackedBody)
        | If(fact.BodyState is not null, Member.BodyState)
        | If(fact.BodyLength is not null, Member.BodyLength)
        | If(fact.BodyHash is not null, Member.BodyHash);

    private static Member SameMembers(AuditFact fact, AuditFact before) =>
        If(fact.Time.Offset == before.Time.Offset, Member.Offset)
        | If(fact.MessageId == before.MessageId, Member.MessageId)
        | If(fact.ConversationId == before.ConversationId, Member.ConversationId)
        | If(fact.CausedBy == before.CausedBy, Member.CausedBy)
        | If(fact.Endpoint == before.Endpoint, Member.Endpoint)
        | If(fact.Process == before.Process, Member.Process)
        | If(fact.Subject == before.Subject, Member.Subject)
        | If(fact.TraceId == before.TraceId, Member.TraceId)
        | If(fact.Party == before.Party, Member.Party)
        | If(fact.Host == before.Host, Member.Host)
        | If(fact.Revision == before.Revision, Member.Revision)
        | If(fact.ContentType == before.ContentType, Member.ContentType);

    // Enum.HasFlag makes objects until its caller is optimised.
    private static bool Has(Member members, Member member) => (members & member) != 0;

    private static Member If(bool condition, Member member) => condition ? member : default;

    private static AuditFact ReadNext(ref FactBytes bytes, AuditFact? before)
    {
        var kind = bytes.Byte();
        var (has, same) = ((Member)bytes.Small(), (Member)bytes.Small());
        if (kind >= Kinds || (has & ~Member.All) != 0 || (same & ~has) != 0 || (before is null && same != 0))
            throw new InvalidDataException("The record was written by a later version.");

        var id = bytes.Guid();
        var ticks = before is null ? bytes.Long() : before.Time.UtcTicks + bytes.Near();
        if (ticks < 0 || ticks > DateTimeOffset.MaxValue.UtcTicks)
            throw new InvalidDataException("The record has no valid time.");
        var own = has & ~same;
        var time = new DateTimeOffset(ticks, TimeSpan.Zero);
        if (Has(own, Member.Offset))
            time = time.ToOffset(TimeSpan.FromMinutes(bytes.Near()));
        else if (Has(same, Member.Offset))
            time = time.ToOffset(before!.Time.Offset);
        var messageId = Has(own, Member.MessageId)
            ? bytes.Guid()
            : before?.MessageId ?? throw new InvalidDataException("The record names no message.");
        return new AuditFact
        {
            Kind = (AuditKind)kind,
            Id = id,
            Time = time,
            MessageId = messageId,
            ConversationId =
                Has(own, Member.ConversationId) ? bytes.Guid()
                : Has(same, Member.ConversationId) ? before!.ConversationId
                : messageId,
            CausedBy =
                Has(own, Member.CausedBy) ? bytes.Guid()
                : Has(same, Member.CausedBy) ? before!.CausedBy
                : null,
            Endpoint =
                Has(own, Member.Endpoint) ? bytes.Text()
                : Has(same, Member.Endpoint) ? before!.Endpoint
                : null,
            Process =
                Has(own, Member.Process) ? bytes.Text()
                : Has(same, Member.Process) ? before!.Process
                : null,
            Step = Has(own, Member.Step) ? bytes.Text() : null,
            Name = Has(own, Member.Name) ? bytes.Text() : null,
            Subject =
                Has(own, Member.Subject) ? bytes.Text()
                : Has(same, Member.Subject) ? before!.Subject
                : null,
            Attempt = Has(own, Member.Attempt) ? (int)bytes.Near() : 0,
            Duration = Has(own, Member.Duration) ? TimeSpan.FromTicks(bytes.Near()) : null,
            Code = Has(own, Member.Code) ? bytes.Text() : null,
            Reason = Has(own, Member.Reason) ? bytes.Text() : null,
            TraceId =
                Has(own, Member.TraceId) ? bytes.Text()
                : Has(same, Member.TraceId) ? before!.TraceId
                : null,
            Party =
                Has(own, Member.Party) ? bytes.Text()
                : Has(same, Member.Party) ? before!.Party
                : null,
            Host =
                Has(own, Member.Host) ? bytes.Text()
                : Has(same, Member.Host) ? before!.Host
                : null,
            Revision =
                Has(own, Member.Revision) ? bytes.Text()
                : Has(same, Member.Revision) ? before!.Revision
                : null,
            Fields = Has(own, Member.Fields) ? Values(ref bytes) : NoFields,
            Headers = Has(own, Member.Headers) ? Values(ref bytes) : null,
            ContentType =
                Has(own, Member.ContentType) ? bytes.Text()
                : Has(same, Member.ContentType) ? before!.ContentType
                : null,
            Body = Has(own, Member.Body)
                ? new PackedBody(Has(own, Member.PackedBody) ? PackedBody.Brotli : null, bytes.Bytes().ToArray()).Unpack()
                : default(ReadOnlyMemory<byte>?), // a plain null would become no bytes
            BodyState = Has(own, Member.BodyState) ? StateOf(bytes.Byte()) : null,
            BodyLength = Has(own, Member.BodyLength) ? bytes.Near() : null,
            BodyHash = Has(own, Member.BodyHash) ? bytes.Bytes().ToArray() : default(ReadOnlyMemory<byte>?),
        };
    }

    private static AuditBodyState StateOf(byte state) =>
        state < BodyStates ? (AuditBodyState)state : throw new InvalidDataException("The record was written by a later version.");

    private static Dictionary<string, string> Values(ref FactBytes bytes)
    {
        var count = bytes.Count();
        var values = new Dictionary<string, string>(Math.Min(count, 64));
        for (var i = 0; i < count; i++)
        {
            var name = bytes.Text();
            values[name] = bytes.Text();
        }

        return values;
    }
}
