using System.Runtime.InteropServices;
using Esb.Core.Audit;

namespace Esb.Storage.Files.Index;

/// <summary>Search keys of facts, as 64 bits. Two values may share a key: the caller checks each fact that it finds.</summary>
/// <remarks>FNV-1a: stable across processes and machines, because keys are stored in files.</remarks>
internal static class FactKeys
{
    private const ulong Basis = 14695981039346656037;
    private const ulong Prime = 1099511628211;

    public static ulong Message(Guid id) => OfId(id, 'm');

    public static ulong Conversation(Guid id) => OfId(id, 'c');

    public static ulong Endpoint(string name) => Add(Add(Basis, "e"), name);

    public static ulong Process(string name) => Add(Add(Basis, "p"), name);

    public static ulong Party(string name) => Add(Add(Basis, "P"), name);

    public static ulong Trace(string id) => Add(Add(Basis, "t"), id);

    public static ulong Field(string name, string value) => Add(Add(Add(Add(Basis, "f"), name), "="), value);

    public static ulong Text(string text) => Add(Basis, text);

    /// <summary>Adds the keys of a fact to a list.</summary>
    public static void Add(AuditFact fact, List<ulong> keys)
    {
        keys.Add(Message(fact.MessageId));
        keys.Add(Conversation(fact.ConversationId));
        if (fact.Endpoint is not null)
            keys.Add(Endpoint(fact.Endpoint));
        if (fact.Process is not null)
            keys.Add(Process(fact.Process));
        if (fact.Party is not null)
            keys.Add(Party(fact.Party));
        if (fact.TraceId is not null)
            keys.Add(Trace(fact.TraceId));
        foreach (var (name, value) in fact.Fields)
            keys.Add(Field(name, value));
    }

    private static ulong OfId(Guid id, char sort)
    {
        Span<byte> bytes = stackalloc byte[17];
        bytes[0] = (byte)sort;
        id.TryWriteBytes(bytes[1..]);
        return Add(Basis, bytes);
    }

    private static ulong Add(ulong hash, string text) => Add(hash, MemoryMarshal.AsBytes(text.AsSpan()));

    private static ulong Add(ulong hash, ReadOnlySpan<byte> bytes)
    {
        foreach (var one in bytes)
            hash = (hash ^ one) * Prime;
        return hash;
    }
}
