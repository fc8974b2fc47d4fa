using Esb.Configuration.Compiling;
using Esb.Core.Endpoints;
using Esb.Core.Processes;
using Esb.Core.Topics;
using Esb.Core.Workflows;
using Esb.Host.Composition;

namespace Esb.Host.Management.Flow;

/// <summary>Finds out what a compiled configuration connects: from the settings of its endpoints and the traits of its steps.</summary>
internal sealed class FlowReader
{
    private readonly Dictionary<string, FlowNode> _nodes = [];
    private readonly Dictionary<(string From, string To, FlowEdgeKind Kind), SortedSet<string>> _edges = [];

    private FlowReader() { }

    public static FlowGraph Read(BusModel model)
    {
        var reader = new FlowReader();
        var endpoints = EndpointSummary.AllOf(model.Configuration);
        foreach (var endpoint in endpoints)
            reader.Add(
                endpoint.Settings is InboundEndpointConfig ? FlowNodeKind.Inbound : FlowNodeKind.Outbound,
                endpoint.Name,
                endpoint.Type,
                endpoint.Address
            );
        foreach (var topic in model.Configuration.Named<TopicConfig>("topics").Keys)
            reader.Add(FlowNodeKind.Topic, topic);
        foreach (var process in model.Get<ProcessModels>().All)
            reader.Add(process);
        foreach (var workflow in model.Find<ConnectedWorkflows>()?.All ?? [])
            reader.Add(workflow);
        foreach (var endpoint in endpoints)
            reader.Connect(endpoint.Settings);
        return new FlowGraph(
            [.. reader._nodes.Values],
            [
                .. reader
                    ._edges.Where(edge => reader._nodes.ContainsKey(edge.Key.From) && reader._nodes.ContainsKey(edge.Key.To))
                    .Select(edge => new FlowEdge(
                        edge.Key.From,
                        edge.Key.To,
                        edge.Key.Kind,
                        edge.Value.Count == 0 ? null : string.Join(", ", edge.Value)
                    )),
            ]
        );
    }

    private void Add(FlowNodeKind kind, string name, string? type = null, string? detail = null)
    {
        var id = FlowNode.IdOf(kind, name);
        _nodes[id] = new FlowNode(id, kind, name) { Type = type, Detail = detail };
    }

    private void Add(ProcessModel process)
    {
        Add(FlowNodeKind.Process, process.Name, detail: process.Description);
        Connect(FlowNode.IdOf(FlowNodeKind.Process, process.Name), process.Steps.Descend().Select(step => step.Traits));
    }

    private void Add(ConnectedWorkflow workflow)
    {
        Add(FlowNodeKind.Workflow, workflow.Name, detail: workflow.Description);
        var id = FlowNode.IdOf(FlowNodeKind.Workflow, workflow.Name);
        foreach (var pattern in workflow.Subscribes)
            Connect(
                FlowNode.IdOf(FlowNodeKind.Topic, pattern.Topic),
                FlowNodeKind.Workflow,
                workflow.Name,
                FlowEdgeKind.Subscribes,
                pattern.Value
            );
        foreach (var child in workflow.Runs)
            Connect(id, FlowNodeKind.Workflow, child, FlowEdgeKind.Runs);
        Connect(id, workflow.Steps);
    }

    private void Connect(string id, IEnumerable<StepTraits> steps)
    {
        foreach (var traits in steps)
        {
            foreach (var subject in traits.Publishes)
                Connect(id, FlowNodeKind.Topic, subject.Topic, FlowEdgeKind.Publishes, subject.Value);
            foreach (var subject in traits.Requests)
                Connect(id, FlowNodeKind.Topic, subject.Topic, FlowEdgeKind.Requests, subject.Value);
            foreach (var called in traits.Calls)
                Connect(id, FlowNodeKind.Outbound, called, FlowEdgeKind.Calls);
            foreach (var run in traits.Runs)
                Connect(id, FlowNodeKind.Process, run, FlowEdgeKind.Runs);
        }
    }

    private void Connect(EndpointConfig settings)
    {
        var id = FlowNode.IdOf(FlowNodeKind.Inbound, settings.Name);
        foreach (var process in settings.Processes)
            Connect(id, FlowNodeKind.Process, process, FlowEdgeKind.Runs);
        if (settings is OutboundEndpointConfig outbound)
        {
            foreach (var pattern in outbound.Subscribe)
                Connect(
                    FlowNode.IdOf(FlowNodeKind.Topic, pattern.Topic),
                    FlowNodeKind.Outbound,
                    outbound.Name,
                    FlowEdgeKind.Subscribes,
                    pattern.Value
                );
        }

        if (settings is not InboundEndpointConfig inbound)
            return;
        if (inbound.Publish is { } subject)
            Connect(id, FlowNodeKind.Topic, subject.Topic, FlowEdgeKind.Publishes, subject.Value);
        if (inbound.Workflow is { } workflow)
            Connect(id, FlowNodeKind.Workflow, workflow, FlowEdgeKind.Runs);
        foreach (var target in inbound.Relays)
            Connect(id, FlowNodeKind.Outbound, target, FlowEdgeKind.Relays);
    }

    private void Connect(string from, FlowNodeKind kind, string name, FlowEdgeKind edge, string? label = null)
    {
        var key = (from, FlowNode.IdOf(kind, name), edge);
        if (!_edges.TryGetValue(key, out var labels))
            _edges[key] = labels = new SortedSet<string>(StringComparer.Ordinal);
        if (label is not null)
            labels.Add(label);
    }
}
