using System.Collections.Frozen;
using System.Security.Cryptography;
using System.Text.Json;
using Esb.Content.Formats;
using Esb.Content.Transforms;

namespace Esb.Content.Lookups;

/// <summary>Reads files of look-ups.</summary>
internal static class LookupFile
{
    /// <summary>Reads a file.</summary>
    /// <param name="path">The file.</param>
    /// <param name="format">Its format.</param>
    /// <param name="key">The column of the keys; null for the first.</param>
    /// <exception cref="LookupFileException">Its content is no look-up.</exception>
    /// <exception cref="IOException">It cannot be read.</exception>
    /// <exception cref="UnauthorizedAccessException">It may not be read.</exception>
    public static LookupContent Read(string path, IMessageFormat format, string? key)
    {
        var stamp = ContentStamp.Of([path]);
        var bytes = File.ReadAllBytes(path);
        try
        {
            return new LookupContent(Parse(bytes, format, key), Convert.ToHexStringLower(SHA256.HashData(bytes)), stamp);
        }
        catch (FormatFaultException ex)
        {
            throw new LookupFileException($"{ex.Code} {ex.Message}", ex);
        }
    }

    private static LookupTable Parse(byte[] bytes, IMessageFormat format, string? key)
    {
        var columns = new List<string>();
        var entries = new Dictionary<string, IReadOnlyDictionary<string, string>>();
        foreach (var record in format.ReadRecords(bytes))
        {
            if (record.Fault is { } fault)
                throw fault;
            var entry = EntryOf(record);
            foreach (var column in entry.Keys)
            {
                if (!columns.Contains(column))
                    columns.Add(column);
            }

            key ??= columns.FirstOrDefault() ?? throw new LookupFileException($"line {record.Line}: the first entry has no columns");
            if (!entry.TryGetValue(key, out var found))
                throw new LookupFileException($"line {record.Line}: the entry has no column '{key}'");
            if (!entries.TryAdd(found, entry))
                throw new LookupFileException($"line {record.Line}: the key \"{found}\" stands in it a second time");
        }

        return new LookupTable(columns, key ?? "", entries.ToFrozenDictionary());
    }

    private static Dictionary<string, string> EntryOf(FormatRecord record)
    {
        using var json = JsonDocument.Parse(record.Json);
        if (json.RootElement.ValueKind != JsonValueKind.Object)
            throw new LookupFileException($"line {record.Line}: the record is not an object");
        return json
            .RootElement.EnumerateObject()
            .Where(member => member.Value.ValueKind != JsonValueKind.Null)
            .ToDictionary(
                member => member.Name,
                member => member.Value.ValueKind == JsonValueKind.String ? member.Value.GetString()! : member.Value.GetRawText()
            );
    }
}

/// <summary>A file of a look-up cannot be used.</summary>
internal sealed class LookupFileException(string message, Exception? inner = null) : Exception(message, inner);
