using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using Esb.Core.Storage;

namespace Esb.Storage.Files.Keys;

/// <summary>A request as it is stored: that it was claimed, or how it was answered; the answer's body lies beside it.</summary>
internal sealed record StoredKey
{
    public required string Endpoint { get; init; }

    public string? Client { get; init; }

    public required string Key { get; init; }

    /// <summary>The SHA-256 of the request's body.</summary>
    public required ReadOnlyMemory<byte> BodyHash { get; init; }

    public required DateTimeOffset Time { get; init; }

    /// <summary>The process in which the answer counts; null where it counts in any.</summary>
    public Guid? Process { get; init; }

    /// <summary>Null where there is no answer.</summary>
    public int? Status { get; init; }

    public string? ContentType { get; init; }

    public IReadOnlyDictionary<string, string>? Headers { get; init; }

    public static UInt128 IdOf(IdempotencyKey key) => Beginning(SHA256.HashData(Encoding.UTF8.GetBytes($"{key.Endpoint}\n{key.Client}\n{key.Value}")));

    /// <summary>Enough of a hash to tell one from another.</summary>
    public static UInt128 Beginning(ReadOnlySpan<byte> hash) => System.Buffers.Binary.BinaryPrimitives.ReadUInt128BigEndian(hash);

    public static byte[] Write(KeyClaim.Granted claim, DateTimeOffset now) => Of(claim, now).Write(null);

    public static byte[] Write(KeyClaim.Granted claim, RecordedAnswer answer, Guid? process, DateTimeOffset now) =>
        (Of(claim, now) with { Process = process, Status = answer.Status, ContentType = answer.ContentType, Headers = answer.Headers }).Write(answer.Body);

    /// <exception cref="JsonException">It holds something else.</exception>
    /// <exception cref="InvalidDataException">It was written by a later version.</exception>
    public static (StoredKey Key, ReadOnlyMemory<byte>? Body) Read(ReadOnlyMemory<byte> payload)
    {
        var item = StoredItems.Read(payload)[0];
        return (JsonSerializer.Deserialize(item.Json.Span, StorageJson.Default.StoredKey) ?? throw new JsonException("The record holds no key."), item.Bytes);
    }

    private static StoredKey Of(KeyClaim.Granted claim, DateTimeOffset now) =>
        new() { Endpoint = claim.Key.Endpoint, Client = claim.Key.Client, Key = claim.Key.Value, BodyHash = claim.BodyHash, Time = now };

    private byte[] Write(ReadOnlyMemory<byte>? body) => StoredItems.Write(new StoredItem(JsonSerializer.SerializeToUtf8Bytes(this, StorageJson.Default.StoredKey), body));
}
