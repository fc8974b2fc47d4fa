using System.Text.Json;
using Esb.Core.Audit;

namespace Esb.Storage.Files;

/// <summary>Audit facts as records: binary (<see cref="FactForm"/>), or of JSON as earlier versions wrote them and as refused facts are
/// kept for an operator to read.</summary>
internal static class StoredFact
{
    /// <summary>One record, so that all of the facts are kept or none.</summary>
    public static byte[] Write(IReadOnlyList<AuditFact> facts) =>
        facts is [var single] ? Write(single) : StoredItems.Write([.. facts.Select(FactRecord.Write)]);

    public static byte[] Write(AuditFact fact) => StoredItems.Write(FactRecord.Write(fact));

    /// <exception cref="InvalidDataException">It was written by a later version.</exception>
    /// <exception cref="JsonException">It holds something else.</exception>
    public static IReadOnlyList<AuditFact> Read(ReadOnlyMemory<byte> payload) =>
        IsBinary(payload) ? FactForm.Read(payload.Span) : [.. StoredItems.Read(payload).Select(FactRecord.Read)];

    /// <summary>One of the facts of a record.</summary>
    public static AuditFact Read(ReadOnlyMemory<byte> payload, int part) =>
        IsBinary(payload) ? FactForm.Read(payload.Span)[part] : FactRecord.Read(StoredItems.Read(payload)[part]);

    /// <summary>How many facts a record holds; 0 where a later version wrote it.</summary>
    public static int Count(ReadOnlyMemory<byte> payload) => IsBinary(payload) ? FactForm.Count(payload.Span) : StoredItems.Count(payload);

    private static bool IsBinary(ReadOnlyMemory<byte> payload) => !payload.IsEmpty && payload.Span[0] == FactForm.Version;
}
