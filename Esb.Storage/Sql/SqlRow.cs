using System.Data.Common;
using System.Text.Json;
using System.Text.Json.Serialization.Metadata;

namespace Esb.Storage.Sql;

/// <summary>The current row of a result.</summary>
internal readonly struct SqlRow(DbDataReader reader, SqlDialect dialect)
{
    public string Text(string column) => reader.GetString(reader.GetOrdinal(column));

    public string? TextOrNull(string column) => Find(column) is { } ordinal ? reader.GetString(ordinal) : null;

    public Guid Id(string column) => reader.GetGuid(reader.GetOrdinal(column));

    public Guid? IdOrNull(string column) => Find(column) is { } ordinal ? reader.GetGuid(ordinal) : null;

    public int Int(string column) => reader.GetInt32(reader.GetOrdinal(column));

    public int? IntOrNull(string column) => Find(column) is { } ordinal ? reader.GetInt32(ordinal) : null;

    public long Long(string column) => reader.GetInt64(reader.GetOrdinal(column));

    public long? LongOrNull(string column) => Find(column) is { } ordinal ? reader.GetInt64(ordinal) : null;

    public double Double(string column) => reader.GetDouble(reader.GetOrdinal(column));

    public bool Flag(string column) => reader.GetBoolean(reader.GetOrdinal(column));

    public DateTimeOffset Time(string column) => dialect.ReadTime(reader, reader.GetOrdinal(column));

    public DateTimeOffset? TimeOrNull(string column) => Find(column) is { } ordinal ? dialect.ReadTime(reader, ordinal) : null;

    public byte[] Bytes(string column) => reader.GetFieldValue<byte[]>(reader.GetOrdinal(column));

    public byte[]? BytesOrNull(string column) => Find(column) is { } ordinal ? reader.GetFieldValue<byte[]>(ordinal) : null;

    public T Json<T>(string column, JsonTypeInfo<T> type) => JsonSerializer.Deserialize(Text(column), type)!;

    public T State<T>(string column)
        where T : struct, Enum => Enum.Parse<T>(Text(column));

    private int? Find(string column) => reader.GetOrdinal(column) is var ordinal && reader.IsDBNull(ordinal) ? null : ordinal;
}
