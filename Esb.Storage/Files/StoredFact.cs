using System.Text.Json;
using Esb.Core.Audit;

namespace Esb.Storage.Files;

/// <summary>Audit facts as records.</summary>
internal static class StoredFact
{
    /// <summary>One record, so that all of the facts are kept or none.</summary>
    public static byte[] Write(IReadOnlyList<AuditFact> facts) => facts is [var single]
        ? Write(single)
        : StoredItems.Write([.. facts.Select(FactRecord.Write)]);

    public static byte[] Write(AuditFact fact) => StoredItems.Write(FactRecord.Write(fact));

    /// <exception cref="InvalidDataException">It was written by a later version.</exception>
    /// <exception cref="JsonException">It holds something else.</exception>
    public static IReadOnlyList<AuditFact> Read(ReadOnlyMemory<byte> payload) => [.. StoredItems.Read(payload).Select(FactRecord.Read)];

    /// <summary>One of the facts of a record.</summary>
    public static AuditFact Read(ReadOnlyMemory<byte> payload, int part) => FactRecord.Read(StoredItems.Read(payload)[part]);
}
