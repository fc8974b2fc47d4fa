namespace Esb.Endpoints.Sql.Inbound;

/// <summary>A row that a poll found.</summary>
/// <param name="Key">The text of its key columns, from which the message id is derived.</param>
/// <param name="AfterValues">The values of the parameters of <c>after</c>, as text; null for null.</param>
internal sealed record TakenRow(string Key, string?[] AfterValues);

/// <summary>The rows of one message.</summary>
/// <param name="Rows">At least one.</param>
/// <param name="Body">The rows as JSON or XML.</param>
internal sealed record TakenRows(IReadOnlyList<TakenRow> Rows, ReadOnlyMemory<byte> Body);
