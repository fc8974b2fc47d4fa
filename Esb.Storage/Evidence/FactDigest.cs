using System.Buffers;
using System.Buffers.Binary;
using System.Security.Cryptography;
using System.Text;
using Esb.Core.Audit;
using Esb.Storage.Sql;

namespace Esb.Storage.Evidence;

/// <summary>The digest of a fact in its chain: SHA-256 over all its members in a fixed form. It covers the digest of the body, so that the
/// body can be erased.</summary>
/// <remarks>The form equals that of facts as stored and read back: times in microseconds, text without U+0000 and unpaired surrogates. It
/// must never change; a new form gets a new number.</remarks>
internal static class FactDigest
{
    private const byte Form = 1;
    private const byte Absent = 0;
    private const byte Present = 1;

    // One for each thread: of a thousand facts in a group, none needs a buffer of its own.
    [ThreadStatic]
    private static ArrayBufferWriter<byte>? _form;

    public static byte[] Of(AuditFact fact, byte[]? bodyDigest)
    {
        var form = _form ??= new ArrayBufferWriter<byte>(1024);
        form.ResetWrittenCount();
        Add(form, Form);
        Add(form, fact.Id);
        Add(form, fact.Kind.ToString());
        Add(form, fact.Time.UtcTicks / TimeSpan.TicksPerMicrosecond);
        Add(form, fact.MessageId);
        Add(form, fact.ConversationId);
        Add(form, fact.CausedBy);
        Add(form, fact.Endpoint);
        Add(form, fact.Process);
        Add(form, fact.Step);
        Add(form, fact.Name);
        Add(form, fact.Subject);
        Add(form, (long?)fact.Attempt);
        Add(form, fact.Duration is { } duration ? duration.Ticks / TimeSpan.TicksPerMicrosecond : null);
        Add(form, fact.Code);
        Add(form, fact.Reason);
        Add(form, fact.TraceId);
        Add(form, fact.Party);
        Add(form, fact.Host);
        Add(form, fact.Revision);
        Add(form, fact.Fields);
        Add(form, fact.Headers);
        Add(form, fact.ContentType);
        Add(form, fact.BodyState?.ToString());
        Add(form, fact.BodyLength);
        Add(form, fact.BodyHash);
        Add(form, bodyDigest is null ? null : (ReadOnlyMemory<byte>?)bodyDigest); // a plain null would become no bytes
        return SHA256.HashData(form.WrittenSpan);
    }

    private static void Add(ArrayBufferWriter<byte> form, byte value)
    {
        form.GetSpan(1)[0] = value;
        form.Advance(1);
    }

    private static void Add(ArrayBufferWriter<byte> form, Guid? value)
    {
        Add(form, value is null ? Absent : Present);
        if (value is null)
            return;
        value.Value.TryWriteBytes(form.GetSpan(16), bigEndian: true, out var written);
        form.Advance(written);
    }

    private static void Add(ArrayBufferWriter<byte> form, long? value)
    {
        Add(form, value is null ? Absent : Present);
        if (value is null)
            return;
        BinaryPrimitives.WriteInt64BigEndian(form.GetSpan(8), value.Value);
        form.Advance(8);
    }

    private static void Add(ArrayBufferWriter<byte> form, string? text)
    {
        Add(form, text is null ? Absent : Present);
        if (text is null)
            return;
        var clean = SqlText.Clean(text);
        var length = Encoding.UTF8.GetByteCount(clean);
        AddLength(form, length);
        Encoding.UTF8.GetBytes(clean, form.GetSpan(length));
        form.Advance(length);
    }

    private static void Add(ArrayBufferWriter<byte> form, ReadOnlyMemory<byte>? bytes)
    {
        Add(form, bytes is null ? Absent : Present);
        if (bytes is null)
            return;
        AddLength(form, bytes.Value.Length);
        form.Write(bytes.Value.Span);
    }

    private static void Add(ArrayBufferWriter<byte> form, IReadOnlyDictionary<string, string>? values)
    {
        Add(form, values is null ? Absent : Present);
        if (values is null)
            return;
        var sorted = new SortedDictionary<string, string>(StringComparer.Ordinal);
        foreach (var (name, value) in values)
            sorted[SqlText.Clean(name)] = value;
        AddLength(form, sorted.Count);
        foreach (var (name, value) in sorted)
        {
            Add(form, name);
            Add(form, value);
        }
    }

    private static void AddLength(ArrayBufferWriter<byte> form, int length)
    {
        BinaryPrimitives.WriteInt32BigEndian(form.GetSpan(4), length);
        form.Advance(4);
    }
}
