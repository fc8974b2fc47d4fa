using System.Data.Common;
using Esb.Core.Endpoints;
using Esb.Core.Errors;

namespace Esb.Endpoints.Sql.Inbound;

/// <summary>Reads the rows of a poll and groups them into messages. Thread-safe.</summary>
/// <param name="config">The endpoint.</param>
/// <param name="after">Its command for taken rows.</param>
internal sealed class RowReader(SqlInboundConfig config, SqlText after)
{
    private const int MostRows = 10_000; // of a poll: they are in memory, and in one transaction

    /// <summary>Reads the rows.</summary>
    /// <exception cref="EndpointException"><c>ESB-SQL-RESULT</c>; <c>ESB-SQL-PARAM</c>: a column is missing. Nothing is taken.</exception>
    public async Task<List<TakenRows>> ReadAsync(DbDataReader reader, CancellationToken cancellationToken)
    {
        var columns = ColumnsOf(reader);
        var key = (config.Key.Count == 0 ? columns.Take(1) : config.Key).Select(name => OrdinalOf(columns, name, "key")).ToArray();
        var values = after.Parameters.Select(name => OrdinalOf(columns, name, "after")).ToArray();
        var (messages, rows, writer, count) = (new List<TakenRows>(), new List<TakenRow>(), (IRowsWriter?)null, 0);
        try
        {
            while (await reader.ReadAsync(cancellationToken))
            {
                if (++count > MostRows)
                    throw Failed("ESB-SQL-RESULT", $"The query finds more than {MostRows} rows; expected a limit in it.");
                writer ??= config.As == RowsFormat.Json ? new JsonRows(columns) : new XmlRows(columns);
                Write(reader, writer);
                rows.Add(
                    new TakenRow(
                        string.Join('\n', key.Select(ordinal => TextOf(reader, ordinal) ?? "")),
                        [.. values.Select(ordinal => TextOf(reader, ordinal))]
                    )
                );
                if (rows.Count < (config.Batch ?? 1))
                    continue;
                messages.Add(Finish(rows, writer));
                (rows, writer) = ([], null);
            }

            if (writer is not null)
                messages.Add(Finish(rows, writer));
            return messages;
        }
        finally
        {
            writer?.Dispose();
        }
    }

    // A message for each row is the object alone, without the array around it.
    private TakenRows Finish(List<TakenRow> rows, IRowsWriter writer)
    {
        using (writer)
        {
            var body = writer.Finish();
            return new TakenRows(rows, config is { Batch: null, As: RowsFormat.Json } ? body[1..^1] : body);
        }
    }

    private void Write(DbDataReader reader, IRowsWriter writer)
    {
        try
        {
            writer.Write(reader);
        }
        catch (Exception ex) when (ex is InvalidCastException or OverflowException or ArgumentException)
        {
            throw new EndpointException(
                config.Name,
                "ESB-SQL-RESULT",
                "A row has a value that cannot be written; cast it in the query.",
                isTransient: false,
                ex
            );
        }
    }

    private List<string> ColumnsOf(DbDataReader reader)
    {
        var names = Enumerable.Range(0, reader.FieldCount).Select(reader.GetName).ToList();
        return names.Count == names.Distinct().Count()
            ? names
            : throw Failed("ESB-SQL-RESULT", "Two columns of the query have the same name; name them apart.");
    }

    private int OrdinalOf(List<string> columns, string name, string setting) =>
        columns.IndexOf(name) is >= 0 and var ordinal
            ? ordinal
            : throw Failed("ESB-SQL-PARAM", $"The query has no column '{name}', which {setting} names.");

    private static string? TextOf(DbDataReader reader, int ordinal)
    {
        if (reader.IsDBNull(ordinal))
            return null;
        return reader.GetValue(ordinal) is byte[] bytes ? $@"\x{Convert.ToHexStringLower(bytes)}" : ColumnText.Of(reader.GetValue(ordinal));
    }

    private EndpointException Failed(string code, string sentence) => new(config.Name, code, sentence, isTransient: false);
}
