using System.Text.Json;
using System.Text.Json.Serialization;
using Esb.Core.Audit;
using Esb.Storage.Bodies;
using Esb.Storage.Evidence;

namespace Esb.Storage.Archives;

/// <summary>The first line of an archive: what it is.</summary>
internal sealed record ArchiveHeader
{
    public const string KnownFormat = "esb audit day";
    public const int KnownVersion = 1;

    public string Format { get; init; } = KnownFormat;

    public int Version { get; init; } = KnownVersion;

    public required DateOnly Day { get; init; }

    public required DateTimeOffset WrittenAt { get; init; }
}

/// <summary>The last line of an archive: what stands before it.</summary>
internal sealed record ArchiveFooter
{
    public required long Facts { get; init; }

    /// <summary>SHA-256 of the lines before, with their ends.</summary>
    public required byte[] Sha256 { get; init; }
}

/// <summary>A fact in an archive, with its place in a chain.</summary>
internal sealed record ArchiveLine
{
    public required AuditFact Fact { get; init; }

    /// <summary>The body, packed as in the store.</summary>
    public byte[]? Body { get; init; }

    public string? BodyEncoding { get; init; }

    public byte[]? BodyDigest { get; init; }

    public Guid? Chain { get; init; }

    public long Number { get; init; }

    public byte[] Link { get; init; } = [];

    /// <summary>True if the body was erased, and a fact recorded the erasure.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingDefault)]
    public bool IsErasureProven { get; init; }

    /// <summary>A line with a fact of a day that was found sound.</summary>
    public static byte[] Write(StoredLink stored)
    {
        var fact = stored.Fact ?? throw new InvalidDataException($"The fact {stored.Id} cannot be read.");
        var packed = fact.Body is { } body ? PackedBody.Pack(body) : default(PackedBody?);
        var line = new ArchiveLine
        {
            Fact = fact with { Body = null },
            Body = packed?.Bytes.ToArray(),
            BodyEncoding = packed?.Encoding,
            BodyDigest = stored.BodyDigest,
            Chain = stored.Chain,
            Number = stored.Number,
            Link = stored.Link,
            IsErasureProven = stored.Erased is not null,
        };
        return JsonSerializer.SerializeToUtf8Bytes(line, StorageJson.Default.ArchiveLine);
    }

    public StoredLink ToLink() =>
        new()
        {
            Id = Fact.Id,
            Fact = Body is null ? Fact : Fact with { Body = new PackedBody(BodyEncoding, Body).Unpack() },
            BodyDigest = BodyDigest,
            Chain = Chain,
            Number = Number,
            Link = Link,
            IsErasureProven = IsErasureProven,
        };
}
