using System.Text.Json;
using Esb.Core.Audit;

namespace Esb.Storage.Files;

/// <summary>Audit facts as records.</summary>
internal static class StoredFact
{
    /// <summary>One record, so that all of the facts are kept or none.</summary>
    public static byte[] Write(IReadOnlyList<AuditFact> facts) => facts is [var single]
        ? StoredItems.Write(ToItem(single))
        : StoredItems.Write([.. facts.Select(ToItem)]);

    public static byte[] Write(AuditFact fact) => StoredItems.Write(ToItem(fact));

    /// <exception cref="InvalidDataException">It was written by a later version.</exception>
    /// <exception cref="JsonException">It holds something else.</exception>
    public static IReadOnlyList<AuditFact> Read(ReadOnlyMemory<byte> payload) => [.. StoredItems.Read(payload).Select(FromItem)];

    /// <summary>One of the facts of a record.</summary>
    public static AuditFact Read(ReadOnlyMemory<byte> payload, int part) => FromItem(StoredItems.Read(payload)[part]);

    private static StoredItem ToItem(AuditFact fact) => new(
        JsonSerializer.SerializeToUtf8Bytes(fact.Body is null ? fact : fact with { Body = null }, StorageJson.Default.AuditFact),
        fact.Body);

    private static AuditFact FromItem(StoredItem item)
    {
        var fact = JsonSerializer.Deserialize(item.Json.Span, StorageJson.Default.AuditFact) ?? throw new JsonException("The record holds no fact.");
        return item.Bytes is { } body ? fact with { Body = body.ToArray() } : fact;
    }
}
