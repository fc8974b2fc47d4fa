using Esb.Core.Endpoints;
using Esb.Host.Metrics;

namespace Esb.Host.Management.Flow;

/// <summary>The flow of messages in API responses, with the place of each node in a drawing.</summary>
internal sealed record FlowView
{
    public required string Name { get; init; }
    public required string Revision { get; init; }

    /// <summary>The size of the drawing.</summary>
    public required int Width { get; init; }

    public required int Height { get; init; }
    public required IReadOnlyList<FlowNodeView> Nodes { get; init; }
    public required IReadOnlyList<FlowEdge> Edges { get; init; }

    public static FlowView Of(
        string name,
        string revision,
        FlowDrawing drawing,
        IReadOnlyDictionary<string, EndpointStatus> states,
        MetricsCollector metrics,
        IReadOnlyDictionary<string, long> waiting
    )
    {
        var endpoints = metrics.Endpoints.All.ToDictionary(measured => measured.Name);
        var topics = metrics.Topics.All.ToDictionary(measured => measured.Name);
        return new FlowView
        {
            Name = name,
            Revision = revision,
            Width = drawing.Width,
            Height = drawing.Height,
            Nodes =
            [
                .. drawing.Graph.Nodes.Select(node =>
                    FlowNodeView.Of(
                        node,
                        drawing.Places[node.Id],
                        states.GetValueOrDefault(node.Name),
                        (node.Kind == FlowNodeKind.Topic ? topics : endpoints).GetValueOrDefault(node.Name),
                        node.Kind == FlowNodeKind.Outbound && waiting.TryGetValue(node.Name, out var count) ? count : null
                    )
                ),
            ],
            Edges = drawing.Graph.Edges,
        };
    }
}

/// <summary>A node in API responses.</summary>
internal sealed record FlowNodeView
{
    public required string Id { get; init; }
    public required FlowNodeKind Kind { get; init; }
    public required string Name { get; init; }
    public string? Type { get; init; }
    public string? Detail { get; init; }
    public required int X { get; init; }
    public required int Y { get; init; }

    /// <summary>The state of an endpoint on this host.</summary>
    public EndpointState? State { get; init; }

    /// <summary>The reason why an endpoint does not run.</summary>
    public string? Reason { get; init; }

    /// <summary>Messages in per second, over the last ten seconds.</summary>
    public double? InPerSecond { get; init; }

    /// <summary>Messages out per second, over the last ten seconds.</summary>
    public double? OutPerSecond { get; init; }

    /// <summary>Messages in the queue of an outbound endpoint; null if there are none, or while the rates of this host are not
    /// read.</summary>
    public long? Waiting { get; init; }

    public static FlowNodeView Of(FlowNode node, FlowPlace place, EndpointStatus? status, Measured? measured, long? waiting)
    {
        var isEndpoint = node.Kind is FlowNodeKind.Inbound or FlowNodeKind.Outbound;
        var counted = isEndpoint || node.Kind == FlowNodeKind.Topic ? measured : null;
        return new FlowNodeView
        {
            Id = node.Id,
            Kind = node.Kind,
            Name = node.Name,
            Type = node.Type,
            Detail = node.Detail,
            X = place.X,
            Y = place.Y,
            State = isEndpoint ? status?.State : null,
            Reason = isEndpoint ? status?.Reason : null,
            InPerSecond = RateOf(counted, CounterKind.DocumentsIn),
            OutPerSecond = RateOf(counted, CounterKind.DocumentsOut),
            Waiting = waiting,
        };
    }

    private static double? RateOf(Measured? measured, CounterKind kind) =>
        measured?.Summarize(kind) is { } counted ? Math.Round(counted.Last10Seconds, 2) : null;
}
