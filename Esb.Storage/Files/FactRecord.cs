using System.Text.Json;
using Esb.Core.Audit;
using Esb.Storage.Bodies;

namespace Esb.Storage.Files;

/// <summary>An audit fact in a segment: its body lies beside it, packed.</summary>
internal sealed record FactRecord
{
    /// <summary>The fact without its body; null where the record is of an early version, which held nothing but the fact.</summary>
    public AuditFact? Fact { get; init; }

    /// <summary>How the body is packed.</summary>
    public string? BodyEncoding { get; init; }

    public static StoredItem Write(AuditFact fact)
    {
        if (fact.Body is not { } body)
            return new StoredItem(ToJson(new FactRecord { Fact = fact }), null);
        var packed = PackedBody.Pack(body);
        return new StoredItem(ToJson(new FactRecord { Fact = fact with { Body = null }, BodyEncoding = packed.Encoding }), packed.Bytes);
    }

    /// <exception cref="JsonException">It holds something else.</exception>
    /// <exception cref="InvalidDataException">It was written by a later version.</exception>
    public static AuditFact Read(StoredItem item)
    {
        var record = JsonSerializer.Deserialize(item.Json.Span, StorageJson.Default.FactRecord);
        var fact =
            record?.Fact
            ?? JsonSerializer.Deserialize(item.Json.Span, StorageJson.Default.AuditFact)
            ?? throw new JsonException("The record holds no fact.");
        return item.Bytes is { } bytes ? fact with { Body = new PackedBody(record?.BodyEncoding, bytes.ToArray()).Unpack() } : fact;
    }

    private static byte[] ToJson(FactRecord record) => JsonSerializer.SerializeToUtf8Bytes(record, StorageJson.Default.FactRecord);
}
