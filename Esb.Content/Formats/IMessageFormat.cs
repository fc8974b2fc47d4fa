using System.Buffers;
using System.Text.Json;

namespace Esb.Content.Formats;

/// <summary>A compiled format: reads texts with records as JSON, and writes them from JSON. Immutable and thread-safe.</summary>
public interface IMessageFormat
{
    /// <summary>Its name in the configuration.</summary>
    string Name { get; }

    /// <summary>The media type of what it writes, with its charset.</summary>
    string ContentType { get; }

    /// <summary>True if its JSON is an array of records; false if it is an object.</summary>
    bool IsList { get; }

    /// <summary>True if the format says what its records are; false if only the whole text can be read.</summary>
    bool HasRecords { get; }

    /// <summary>Reads a whole text as one JSON value.</summary>
    /// <exception cref="FormatFaultException">The text is not of the format.</exception>
    void Read(ReadOnlyMemory<byte> text, Utf8JsonWriter json);

    /// <summary>Writes a JSON value as a text: an array of records, or one record.</summary>
    /// <exception cref="FormatFaultException">The value does not fit the format.</exception>
    void Write(JsonElement value, IBufferWriter<byte> output);

    /// <summary>Reads the records one by one, in their order. A record with a fault is returned with that fault.</summary>
    /// <exception cref="FormatFaultException">The text cannot be divided into records from here on.</exception>
    IEnumerable<FormatRecord> ReadRecords(ReadOnlyMemory<byte> text);

    /// <summary>True if the records of a stream can be read with a part of it in memory at a time.</summary>
    bool CanStream { get; }

    /// <summary>As the other, of a stream: in memory are the record and what was read ahead of it.</summary>
    /// <param name="text">The text; the caller disposes it behind the last record.</param>
    /// <exception cref="FormatFaultException">The text cannot be divided into records from here on.</exception>
    /// <exception cref="NotSupportedException">The format is read as a whole (<see cref="CanStream"/>).</exception>
    IEnumerable<FormatRecord> ReadRecords(Stream text);
}

/// <summary>A record of a text.</summary>
/// <param name="Line">The line at which it begins, from 1.</param>
/// <param name="Json">The record as JSON; empty if it has a fault.</param>
/// <param name="Text">The record as it was written, in UTF-8, without the end of its line. Of a stream it is valid until the next record,
/// unless the record has a fault.</param>
/// <param name="Fault">The reason why it cannot be read; null if it was.</param>
public readonly record struct FormatRecord(int Line, ReadOnlyMemory<byte> Json, ReadOnlyMemory<byte> Text, FormatFaultException? Fault)
{
    /// <summary>Fields of the records around it, by names such as <c>head.sender</c>.</summary>
    public IReadOnlyList<KeyValuePair<string, string>> Surroundings { get; init; } = [];
}
