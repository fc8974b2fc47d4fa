using Esb.Core.Audit;
using Esb.Storage.Bodies;
using Esb.Storage.Evidence;
using Esb.Storage.Files;
using Esb.Storage.Sql;

namespace Esb.Storage.Postgres.Audit;

/// <summary>The column <c>parts</c> of a row with several facts: a version, their number, the number of bodies; for each fact how its body
/// is packed, its length and its digest; then the facts in the form of records (<see cref="FactForm"/>), behind what they have in common
/// with the columns of the row.</summary>
/// <remarks>Values of fields are not repeated: a fact has the names, and the row the values. So whatever is changed in the row changes a
/// fact, or makes it unreadable. SQL reads the two numbers.</remarks>
internal static class PostgresParts
{
    /// <summary>SQL: how many facts a row has.</summary>
    public const string Count = "case when octet_length(parts) > 2 then get_byte(parts, 1) else 1 end";

    private const byte Version = 1;

    private enum Packing : byte
    {
        NoBody,
        Plain,
        Brotli,
    }

    public static byte[] Write(PostgresFactRow row)
    {
        var buffer = FactBuffer.Take();
        try
        {
            buffer.Add(Version);
            buffer.Add((byte)row.Facts.Count);
            buffer.Add((byte)row.Facts.Count(fact => fact.Sealed.BodyDigest is not null));
            foreach (var fact in row.Facts)
                WriteBody(fact.Sealed, buffer);
            FactForm.Write([.. row.Facts.Select(fact => WithoutBesides(fact.Sealed.Fact))], buffer, CommonOf(row.Fact));
            return buffer.Bytes.ToArray();
        }
        finally
        {
            buffer.Return();
        }
    }

    /// <summary>The facts of a row, in their order, with the digests of their bodies. A body that the row does not have is null.</summary>
    /// <param name="parts">The column.</param>
    /// <param name="row">A fact with the columns of the row that all its facts have, and with the row's fields.</param>
    /// <param name="bodies">The column <c>body</c>; null where it was not asked for, or is erased.</param>
    /// <exception cref="InvalidDataException">It is damaged, does not belong to the row, or was written by a later version.</exception>
    public static IReadOnlyList<(AuditFact Fact, byte[]? BodyDigest)> Read(byte[] parts, AuditFact row, byte[]? bodies)
    {
        var bytes = new FactBytes(parts);
        if (bytes.Byte() != Version)
            throw new InvalidDataException("The row was written by a later version.");
        var (count, withBody) = (bytes.Byte(), bytes.Byte());
        var packed = new (Packing Packing, int Length, byte[]? Digest)[count];
        for (var i = 0; i < count; i++)
        {
            packed[i].Packing = bytes.Byte() is <= (byte)Packing.Brotli and var packing
                ? (Packing)packing
                : throw new InvalidDataException("A body was packed by a later version.");
            if (packed[i].Packing != Packing.NoBody)
                (packed[i].Length, packed[i].Digest) = (bytes.Count(), bytes.Bytes().ToArray());
        }

        var facts = FactForm.Read(ref bytes, CommonOf(row));
        if (!bytes.IsEmpty || facts.Count != count || packed.Count(body => body.Digest is not null) != withBody || !Belong(facts, row))
            throw new InvalidDataException("The columns of the row and its facts do not belong together.");
        var read = new (AuditFact, byte[]?)[count];
        var rest = bodies.AsMemory();
        for (var i = 0; i < count; i++)
        {
            var fact = facts[i] with { Fields = FieldsOf(facts[i], row) };
            if (bodies is not null && packed[i].Digest is not null)
                fact = fact with { Body = TakeBody(ref rest, packed[i].Packing, packed[i].Length) };
            read[i] = (fact, packed[i].Digest);
        }

        return rest.IsEmpty ? read : throw new InvalidDataException("The row has more bodies than its facts.");
    }

    private static void WriteBody(SealedFact fact, FactBuffer buffer)
    {
        if (fact is not { Body: { } body, BodyDigest: { } digest })
        {
            buffer.Add((byte)Packing.NoBody);
            return;
        }

        buffer.Add((byte)(body.Encoding is null ? Packing.Plain : Packing.Brotli));
        buffer.AddSmall((ulong)body.Bytes.Length);
        buffer.Add(digest.AsSpan());
    }

    private static ReadOnlyMemory<byte> TakeBody(ref Memory<byte> rest, Packing packing, int length)
    {
        if (length > rest.Length)
            throw new InvalidDataException("A body of the row is cut.");
        var body = rest[..length];
        rest = rest[length..];
        return new PackedBody(packing == Packing.Brotli ? PackedBody.Brotli : null, body).Unpack();
    }

    // Times in microseconds, and names of fields as the columns hold them.
    private static AuditFact WithoutBesides(AuditFact fact) =>
        fact with
        {
            Time = InMicroseconds(fact.Time),
            Fields = fact.Fields.Keys.Select(SqlText.Clean).Distinct().ToDictionary(name => name!, _ => ""),
            Body = null,
        };

    private static AuditFact CommonOf(AuditFact row) =>
        new()
        {
            Id = row.Id,
            Kind = row.Kind,
            Time = InMicroseconds(row.Time),
            MessageId = row.MessageId,
            ConversationId = row.ConversationId,
            Endpoint = SqlText.Clean(row.Endpoint),
            Process = SqlText.Clean(row.Process),
            TraceId = SqlText.Clean(row.TraceId),
            Party = SqlText.Clean(row.Party),
            Host = SqlText.Clean(row.Host),
            Revision = SqlText.Clean(row.Revision),
        };

    private static bool Belong(IReadOnlyList<AuditFact> facts, AuditFact row) =>
        facts[^1].Id == row.Id
        && facts[^1].Time == row.Time
        && facts[^1].Kind == row.Kind
        && facts[^1].MessageId == row.MessageId
        && facts[^1].ConversationId == row.ConversationId
        && SqlText.Clean(facts[^1].Endpoint) == row.Endpoint
        && SqlText.Clean(facts[^1].Process) == row.Process
        && SqlText.Clean(facts[^1].TraceId) == row.TraceId
        && SqlText.Clean(facts[^1].Party) == row.Party
        && SqlText.Clean(facts[^1].Host) == row.Host
        && SqlText.Clean(facts[^1].Revision) == row.Revision
        && facts.SelectMany(fact => fact.Fields.Keys).Distinct().Count() == row.Fields.Count;

    private static Dictionary<string, string> FieldsOf(AuditFact fact, AuditFact row) =>
        fact.Fields.Keys.ToDictionary(
            name => name,
            name => row.Fields.TryGetValue(name, out var value) ? value : throw new InvalidDataException($"The row has no field '{name}'.")
        );

    private static DateTimeOffset InMicroseconds(DateTimeOffset time) =>
        new(time.UtcTicks - time.UtcTicks % TimeSpan.TicksPerMicrosecond, TimeSpan.Zero);
}
