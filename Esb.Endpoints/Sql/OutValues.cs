using System.Data;
using System.Data.Common;

namespace Esb.Endpoints.Sql;

/// <summary>The output values of a procedure, readable as one row.</summary>
internal sealed class OutValues
{
    private readonly List<(string Name, Type Type, object Value)> _values = [];

    /// <summary>Adds a value; <see cref="DBNull"/> for null.</summary>
    public void Add(string name, Type type, object value) => _values.Add((name, type, value));

    /// <summary>Hands the row over; does nothing without values.</summary>
    public async Task ReadByAsync(Func<DbDataReader, Task> read)
    {
        if (_values.Count == 0)
            return;
        using var table = new DataTable();
        foreach (var (name, type, value) in _values)
            table.Columns.Add(name, value is DBNull ? type : value.GetType());
        table.Rows.Add([.. _values.Select(entry => entry.Value)]);
        await using var reader = table.CreateDataReader();
        await read(reader);
    }
}
