using System.Buffers.Binary;

namespace Esb.Storage.Files;

/// <summary>What a record holds: a version, then items that were kept together, each of JSON and perhaps bytes beside it.</summary>
internal static class StoredItems
{
    private const byte Version = 1;
    private const int NoBytes = -1;

    public static byte[] Write(params ReadOnlySpan<StoredItem> items)
    {
        var size = 1;
        foreach (var item in items)
            size += 8 + item.Json.Length + item.Bytes.GetValueOrDefault().Length;

        var payload = new byte[size];
        payload[0] = Version;
        var rest = payload.AsSpan(1);
        foreach (var item in items)
        {
            var bytes = item.Bytes.GetValueOrDefault();
            BinaryPrimitives.WriteInt32LittleEndian(rest, item.Json.Length);
            BinaryPrimitives.WriteInt32LittleEndian(rest[4..], item.Bytes is null ? NoBytes : bytes.Length);
            item.Json.Span.CopyTo(rest[8..]);
            bytes.Span.CopyTo(rest[(8 + item.Json.Length)..]);
            rest = rest[(8 + item.Json.Length + bytes.Length)..];
        }

        return payload;
    }

    /// <summary>The items of a record; they point into it.</summary>
    /// <exception cref="InvalidDataException">It was written by a later version.</exception>
    public static IReadOnlyList<StoredItem> Read(ReadOnlyMemory<byte> payload)
    {
        if (!IsKnown(payload))
            throw new InvalidDataException("The record was written by a later version.");

        var items = new List<StoredItem>(1);
        for (var rest = payload[1..]; !rest.IsEmpty; )
        {
            var json = BinaryPrimitives.ReadInt32LittleEndian(rest.Span);
            var bytes = BinaryPrimitives.ReadInt32LittleEndian(rest.Span[4..]);
            // a plain null would become no bytes
            ReadOnlyMemory<byte>? beside = bytes == NoBytes ? default(ReadOnlyMemory<byte>?) : rest.Slice(8 + json, bytes);
            items.Add(new StoredItem(rest.Slice(8, json), beside));
            rest = rest[(8 + json + Math.Max(bytes, 0))..];
        }

        return items;
    }

    /// <summary>How many items a record holds that can be read here.</summary>
    public static int Count(ReadOnlyMemory<byte> payload) => IsKnown(payload) ? Read(payload).Count : 0;

    private static bool IsKnown(ReadOnlyMemory<byte> payload) => !payload.IsEmpty && payload.Span[0] == Version;
}

/// <summary>JSON, and bytes that stay as they are.</summary>
internal readonly record struct StoredItem(ReadOnlyMemory<byte> Json, ReadOnlyMemory<byte>? Bytes);
