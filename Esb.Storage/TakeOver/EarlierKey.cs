using System.Text.Json;
using Esb.Storage.Files;

namespace Esb.Storage.TakeOver;

/// <summary>
/// A request as release 0.1 wrote it to a segment: that it was claimed, or how it was answered; the answer's body lies beside it.
/// </summary>
internal sealed record EarlierKey
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

    /// <exception cref="JsonException">It holds something else.</exception>
    /// <exception cref="InvalidDataException">It was written by a later version.</exception>
    public static (EarlierKey Key, ReadOnlyMemory<byte>? Body) Read(ReadOnlyMemory<byte> payload)
    {
        var item = StoredItems.Read(payload)[0];
        return (
            JsonSerializer.Deserialize(item.Json.Span, StorageJson.Default.EarlierKey)
                ?? throw new JsonException("The record holds no key."),
            item.Bytes
        );
    }
}
