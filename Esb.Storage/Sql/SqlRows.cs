namespace Esb.Storage.Sql;

/// <summary>Rows that a statement gets as parameters, to select from: one statement for many rows.</summary>
/// <param name="name">What the statement calls them.</param>
internal sealed class SqlRows(string name)
{
    private readonly List<SqlColumn> _columns = [];

    public string Name => name;

    public IReadOnlyList<SqlColumn> Columns => _columns;

    public int Count => _columns[0].Values.Count;

    public static SqlRows Of<T>(
        string name,
        IReadOnlyCollection<T> rows,
        params IEnumerable<(string Column, SqlType Type, Func<T, object?> Value)> columns
    )
    {
        var made = new SqlRows(name);
        foreach (var (column, type, value) in columns)
            made._columns.Add(new SqlColumn(column, type, [.. rows.Select(value)]));
        return made;
    }
}

/// <summary>The values of a column, of each row one.</summary>
internal sealed record SqlColumn(string Name, SqlType Type, IReadOnlyList<object?> Values);

/// <summary>The types of the columns of <see cref="SqlRows"/>.</summary>
internal enum SqlType
{
    Text,
    Json,
    Id,
    Time,
    Flag,
    Number,
    Long,
    Duration,
    Bytes,
}

/// <summary>A parameter that is JSON.</summary>
internal sealed record SqlJson(string Text);
