using System.Text.Json.Nodes;
using Esb.IntegrationTests.Faults.Sinks;

namespace Esb.IntegrationTests.Faults.Benches;

/// <summary>The configuration of a bench: HTTP in, one topic, and the endpoints of its sinks; broker and database as the variables
/// say.</summary>
internal static class BenchConfiguration
{
    public const string BrokerVariable = "ESB_FAULTS_BROKER";
    public const string StoreVariable = "ESB_FAULTS_STORE";

    public static JsonObject Of(string name, IReadOnlyList<ISink> sinks)
    {
        var endpoints = new JsonObject
        {
            ["intake"] = new JsonObject
            {
                ["type"] = "http-inbound",
                ["path"] = "/work",
                ["publish"] = "work.item",
            },
        };
        foreach (var sink in sinks)
            endpoints[sink.Endpoint] = sink.Configuration;
        return new JsonObject
        {
            ["name"] = name,
            ["transport"] = new JsonObject
            {
                ["type"] = "rabbitmq",
                ["url"] = $"${{env:{BrokerVariable}}}",
                ["prefix"] = name,
            },
            ["store"] = new JsonObject { ["type"] = "postgres", ["connection"] = $"${{env:{StoreVariable}}}" },
            ["connections"] = new JsonObject { ["sink"] = new JsonObject { ["connection"] = $"${{env:{StoreVariable}}}" } },
            ["topics"] = new JsonObject { ["work"] = new JsonObject { ["key"] = new JsonObject { ["header"] = FaultHeaders.Key } } },
            ["endpoints"] = endpoints,
        };
    }

    /// <summary>Settings of an outbound endpoint that works on many messages at once, and tries again soon.</summary>
    public static JsonObject Parallel(int poolSize = 16, int processingThreads = 8) =>
        new()
        {
            ["poolSize"] = poolSize,
            ["processingThreads"] = processingThreads,
            ["retry"] = Retry(),
        };

    /// <summary>The same of one whose messages share commits.</summary>
    public static JsonObject Batched(int poolSize = 16, int processingThreads = 16)
    {
        var settings = Parallel(poolSize, processingThreads);
        settings["batch"] = new JsonObject();
        return settings;
    }

    /// <summary>Settings of an outbound endpoint that works on one message at a time over all hosts.</summary>
    public static JsonObject Ordered() => new() { ["delivery"] = "ordered", ["retry"] = Retry() };

    /// <summary>Settings of an outbound endpoint that keeps the order of each key, and works on many keys at once over all hosts.</summary>
    public static JsonObject OrderedByKey() =>
        new()
        {
            ["delivery"] = "ordered-by-key",
            ["poolSize"] = 8,
            ["processingThreads"] = 8,
            ["retry"] = Retry(),
        };

    private static JsonObject Retry() => new() { ["immediate"] = 2, ["delays"] = new JsonArray("1s", "2s", "5s", "10s") };
}
