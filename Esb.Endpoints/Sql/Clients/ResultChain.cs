using System.Collections;
using System.Data;
using System.Data.Common;

namespace Esb.Endpoints.Sql.Clients;

/// <summary>The results of several commands, each of which runs when the results of the one before are read. Commands without rows have
/// none.</summary>
/// <param name="first">The results of the first command.</param>
/// <param name="further">The commands behind it.</param>
/// <param name="behavior">How they run.</param>
internal sealed class ResultChain(DbDataReader first, IEnumerable<DbCommand> further, CommandBehavior behavior) : DbDataReader
{
    private readonly Queue<DbCommand> _further = new(further);
    private DbDataReader _current = first;

    public override int Depth => _current.Depth;

    public override int FieldCount => _current.FieldCount;

    public override bool HasRows => _current.HasRows;

    public override bool IsClosed => _current.IsClosed;

    public override int RecordsAffected => _current.RecordsAffected;

    public override object this[int ordinal] => _current[ordinal];

    public override object this[string name] => _current[name];

    public override bool Read() => _current.Read();

    public override Task<bool> ReadAsync(CancellationToken cancellationToken) => _current.ReadAsync(cancellationToken);

    public override bool NextResult()
    {
        while (!_current.NextResult())
        {
            if (!_further.TryDequeue(out var command))
                return false;
            _current.Dispose();
            _current = command.ExecuteReader(behavior);
            if (_current.FieldCount > 0)
                return true;
        }

        return true;
    }

    public override async Task<bool> NextResultAsync(CancellationToken cancellationToken)
    {
        while (!await _current.NextResultAsync(cancellationToken))
        {
            if (!_further.TryDequeue(out var command))
                return false;
            await _current.DisposeAsync();
            _current = await command.ExecuteReaderAsync(behavior, cancellationToken);
            if (_current.FieldCount > 0)
                return true;
        }

        return true;
    }

    public override void Close() => _current.Close();

    public override ValueTask DisposeAsync() => _current.DisposeAsync();

    public override bool GetBoolean(int ordinal) => _current.GetBoolean(ordinal);

    public override byte GetByte(int ordinal) => _current.GetByte(ordinal);

    public override long GetBytes(int ordinal, long dataOffset, byte[]? buffer, int bufferOffset, int length) =>
        _current.GetBytes(ordinal, dataOffset, buffer, bufferOffset, length);

    public override char GetChar(int ordinal) => _current.GetChar(ordinal);

    public override long GetChars(int ordinal, long dataOffset, char[]? buffer, int bufferOffset, int length) =>
        _current.GetChars(ordinal, dataOffset, buffer, bufferOffset, length);

    public override string GetDataTypeName(int ordinal) => _current.GetDataTypeName(ordinal);

    public override DateTime GetDateTime(int ordinal) => _current.GetDateTime(ordinal);

    public override decimal GetDecimal(int ordinal) => _current.GetDecimal(ordinal);

    public override double GetDouble(int ordinal) => _current.GetDouble(ordinal);

    public override IEnumerator GetEnumerator() => _current.GetEnumerator();

    public override Type GetFieldType(int ordinal) => _current.GetFieldType(ordinal);

    public override T GetFieldValue<T>(int ordinal) => _current.GetFieldValue<T>(ordinal);

    public override float GetFloat(int ordinal) => _current.GetFloat(ordinal);

    public override Guid GetGuid(int ordinal) => _current.GetGuid(ordinal);

    public override short GetInt16(int ordinal) => _current.GetInt16(ordinal);

    public override int GetInt32(int ordinal) => _current.GetInt32(ordinal);

    public override long GetInt64(int ordinal) => _current.GetInt64(ordinal);

    public override string GetName(int ordinal) => _current.GetName(ordinal);

    public override int GetOrdinal(string name) => _current.GetOrdinal(name);

    public override string GetString(int ordinal) => _current.GetString(ordinal);

    public override object GetValue(int ordinal) => _current.GetValue(ordinal);

    public override int GetValues(object[] values) => _current.GetValues(values);

    public override bool IsDBNull(int ordinal) => _current.IsDBNull(ordinal);
}
