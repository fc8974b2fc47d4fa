namespace Esb.Host.Management.Flow;

/// <summary>The kinds of nodes.</summary>
internal enum FlowNodeKind
{
    Inbound,
    Process,
    Workflow,
    Topic,
    Outbound,
}

/// <summary>The kinds of edges.</summary>
internal enum FlowEdgeKind
{
    /// <summary>Its messages run through the process or the workflow.</summary>
    Runs,

    /// <summary>Messages are published to the topic.</summary>
    Publishes,

    /// <summary>A request is published, and its reply awaited.</summary>
    Requests,

    /// <summary>The endpoint subscribes to the topic.</summary>
    Subscribes,

    /// <summary>The endpoint is called without a topic.</summary>
    Calls,

    /// <summary>Requests are relayed to the endpoint.</summary>
    Relays,
}

/// <summary>A part of the configuration that messages pass.</summary>
/// <param name="Id">Its kind and name, such as <c>topic:orders</c>.</param>
/// <param name="Kind">Its kind.</param>
/// <param name="Name">Its name.</param>
internal sealed record FlowNode(string Id, FlowNodeKind Kind, string Name)
{
    /// <summary>The type of an endpoint.</summary>
    public string? Type { get; init; }

    /// <summary>The external address of an endpoint, or the steps of a process.</summary>
    public string? Detail { get; init; }

    public static string IdOf(FlowNodeKind kind, string name) =>
        kind is FlowNodeKind.Inbound or FlowNodeKind.Outbound ? $"endpoint:{name}" : $"{kind.ToString().ToLowerInvariant()}:{name}";
}

/// <summary>A way that messages take.</summary>
/// <param name="From">The id of a node.</param>
/// <param name="To">The id of a node.</param>
/// <param name="Kind">The kind.</param>
/// <param name="Label">The subjects or patterns; null if there are none.</param>
internal sealed record FlowEdge(string From, string To, FlowEdgeKind Kind, string? Label = null);

/// <summary>What the configuration connects. Immutable.</summary>
internal sealed record FlowGraph(IReadOnlyList<FlowNode> Nodes, IReadOnlyList<FlowEdge> Edges);
