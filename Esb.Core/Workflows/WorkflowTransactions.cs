namespace Esb.Core.Workflows;

/// <summary>The connections on which workflows begin transactions: their databases keep outbox and results.</summary>
/// <param name="Connections">Names of connections.</param>
public sealed record WorkflowTransactions(IReadOnlyCollection<string> Connections);
