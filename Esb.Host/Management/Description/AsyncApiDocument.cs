using System.Text.Json.Nodes;
using Esb.Configuration.Compiling;
using Esb.Core.Topics;
using Esb.Host.Management.Flow;

namespace Esb.Host.Management.Description;

/// <summary>Describes the topics of the running configuration as AsyncAPI 3.0
/// (https://www.asyncapi.com/docs/reference/specification/v3.0.0): what foreign clients may publish and read.</summary>
internal static class AsyncApiDocument
{
    private const string Json = "application/json";

    public static JsonObject Write(BusModel model)
    {
        var topics = model.Configuration.Named<TopicConfig>("topics");
        var flow = FlowReader.Read(model);
        var (channels, operations, messages) = (new JsonObject(), new JsonObject(), new JsonObject());
        foreach (var (name, topic) in topics)
        {
            messages[name] = MessageOf(name, topic);
            channels[name] = new JsonObject
            {
                ["address"] = name,
                ["description"] = $"The topic {name}: subjects are {name} and what begins with {name}.",
                ["messages"] = new JsonObject { ["message"] = Reference($"#/components/messages/{Escape(name)}") },
            };
            AddOperations(operations, name, flow);
        }

        return new JsonObject
        {
            ["asyncapi"] = "3.0.0",
            ["info"] = new JsonObject { ["title"] = $"Topics of {model.Configuration.Name}", ["version"] = model.Revision },
            ["defaultContentType"] = Json,
            ["channels"] = channels,
            ["operations"] = operations,
            ["components"] = new JsonObject { ["messages"] = messages },
        };
    }

    // From the view of the bus: it sends what processes and endpoints publish, and receives what endpoints subscribe to.
    private static void AddOperations(JsonObject operations, string topic, FlowGraph flow)
    {
        var id = FlowNode.IdOf(FlowNodeKind.Topic, topic);
        foreach (var edge in flow.Edges.Where(edge => edge.To == id || edge.From == id))
        {
            var (action, other) = edge.To == id ? ("send", edge.From) : ("receive", edge.To);
            operations[$"{action}-{topic}-{other.Replace(':', '-')}"] = new JsonObject
            {
                ["action"] = action,
                ["channel"] = Reference($"#/channels/{Escape(topic)}"),
                ["summary"] = $"{other} {(action == "send" ? "publishes" : "reads")} {edge.Label}",
                ["messages"] = new JsonArray(Reference($"#/channels/{Escape(topic)}/messages/message")),
            };
        }
    }

    private static JsonObject MessageOf(string name, TopicConfig topic)
    {
        var message = new JsonObject
        {
            ["name"] = name,
            ["headers"] = new JsonObject
            {
                ["type"] = "object",
                ["properties"] = new JsonObject
                {
                    ["esb-conversation"] = new JsonObject { ["type"] = "string", ["format"] = "uuid" },
                    ["esb-key"] = new JsonObject { ["type"] = "string" },
                    ["traceparent"] = new JsonObject { ["type"] = "string" },
                },
            },
        };
        if (topic.Schema is { } schema)
            message["x-esb-schema"] = schema;
        return message;
    }

    private static JsonObject Reference(string to) => new() { ["$ref"] = to };

    private static string Escape(string name) =>
        name.Replace("~", "~0", StringComparison.Ordinal).Replace("/", "~1", StringComparison.Ordinal);
}
