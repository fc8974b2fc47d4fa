using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;
using Esb.Core.Expressions;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Configuration;

/// <summary>Sections, endpoint types and steps like those of the product, so that the reader is tested without the assemblies that bring
/// them.</summary>
internal static class FakeSettings
{
    public static IServiceCollection Register() => new ServiceCollection().AddEsbConfiguration().AddSections().AddEndpoints().AddSteps();

    private static IServiceCollection AddSections(this IServiceCollection services) =>
        services
            .AddSingleton(new SettingsKind(typeof(TransportConfig), "memory", typeof(MemoryConfig), "Inside this process."))
            .AddSingleton(new SettingsKind(typeof(TransportConfig), "rabbitmq", typeof(BrokerConfig), "A broker."))
            .AddSingleton(new SettingsKind(typeof(StoreConfig), "file", typeof(FolderConfig), "A folder."))
            .AddSection<IReadOnlyDictionary<string, ListenerConfig>>(
                "listeners",
                "Addresses.",
                """{ "public": { "url": "http://127.0.0.1:8080" } }"""
            )
            .AddSection<IReadOnlyDictionary<string, FileConfig>>("schemas", "Schemas.")
            .AddSection<IReadOnlyDictionary<string, FileConfig>>("maps", "Maps.")
            .AddSection<IReadOnlyDictionary<string, string>>("namespaces", "Prefixes.");

    private static IServiceCollection AddEndpoints(this IServiceCollection services) =>
        services
            .AddEndpointType<IEndpointType, HttpInConfig>("http-inbound", "Receives requests.")
            .AddEndpointType<IEndpointType, FileInConfig>("file-inbound", "Reads files.")
            .AddEndpointType<IEndpointType, FileOutConfig>("file-outbound", "Writes files.")
            .AddEndpointType<IEndpointType, HttpOutConfig>("http-outbound", "Sends requests.");

    private static IServiceCollection AddSteps(this IServiceCollection services) =>
        services
            .AddStep<IStepFactory, ChooseConfig>("choose", "Takes one of several ways.")
            .AddStep<IStepFactory, ConditionConfig>("filter", "Ends the process.")
            .AddStep<IStepFactory, PublishConfig>("publish", "Publishes.")
            .AddStep<IStepFactory, CallConfig>("call", "Calls an endpoint.")
            .AddStep<IStepFactory, MapStepConfig>("transform", "Changes the form.")
            .AddStep<IStepFactory, SchemaStepConfig>("validate", "Checks the form.")
            .AddStep<IStepFactory, SetConfig>("set", "Sets headers.")
            .AddStep<IStepFactory, AuditConfig>("audit", "Records.")
            .AddStep<IStepFactory, RespondConfig>("respond", "Answers.")
            .AddUnavailable<StepConfig>("aggregate");
}

internal sealed record MemoryConfig : TransportConfig;

internal sealed record BrokerConfig : TransportConfig
{
    public override bool SpansHosts => true;

    [Setting("Where the broker is.", MayHoldPassword = true)]
    public required string Url { get; init; }

    [Setting("Before every name.")]
    public string Prefix { get; init; } = "esb";
}

internal sealed record FolderConfig : StoreConfig
{
    [Setting("The folder.", IsPath = true)]
    public override string Folder { get; init; } = "esb-data";
}

internal sealed record ListenerConfig : SettingsRecord
{
    [Setting("The address.")]
    public required string Url { get; init; }

    [Setting("A shared key.", Secret = true)]
    public string? Key { get; init; }

    [Setting("Keys of callers.", Secret = true)]
    public IReadOnlyList<string> Keys { get; init; } = [];
}

internal sealed record FileConfig : SettingsRecord
{
    [Setting("The file.", Main = true, IsPath = true)]
    public required string File { get; init; }
}

internal sealed record HttpInConfig : InboundEndpointConfig
{
    [Setting("The path.", Name = "path")]
    public required string Route { get; init; }

    [Setting("The methods.")]
    public IReadOnlyList<string> Methods { get; init; } = ["POST"];

    [Setting("The listener.", Reference = "listeners")]
    public string Listener { get; init; } = "public";

    [Setting("Calls at once.", Range = "1..10000")]
    public int MaxConcurrentCalls { get; init; } = 200;

    [Setting("The largest body.", Range = "1B..1GiB")]
    public ByteSize? MaxBodySize { get; init; }
}

internal sealed record FileInConfig : InboundEndpointConfig
{
    [Setting("The folder.", IsPath = true)]
    public required string Folder { get; init; }

    [Setting("The names.")]
    public string Pattern { get; init; } = "*";
}

internal enum Existing
{
    Fail,
    Replace,
    Unique,
}

internal sealed record FileOutConfig : OutboundEndpointConfig
{
    [Setting("The folder.", IsPath = true)]
    public required string Folder { get; init; }

    [Setting("The name.")]
    public string FileName { get; init; } = "{message.id}";

    [Setting("What happens to a file that exists.")]
    public Existing IfExists { get; init; }
}

internal sealed record HttpOutConfig : OutboundEndpointConfig
{
    [Setting("The address.")]
    public required string Url { get; init; }
}

internal sealed record ChooseConfig : SettingsRecord
{
    [Setting("The ways.")]
    public required IReadOnlyList<WhenConfig> When { get; init; }

    [Setting("Otherwise.")]
    public IReadOnlyList<StepConfig> Otherwise { get; init; } = [];
}

internal sealed record WhenConfig : SettingsRecord
{
    [Setting("The condition.")]
    public required ConditionConfig If { get; init; }

    [Setting("The steps.")]
    public required IReadOnlyList<StepConfig> Steps { get; init; }
}

internal sealed record PublishConfig : SettingsRecord
{
    [Setting("Where to.", Main = true)]
    public required Subject Subject { get; init; }
}

internal sealed record CallConfig : SettingsRecord
{
    [Setting("The endpoint.", Main = true, Reference = "endpoints")]
    public required string Endpoint { get; init; }

    [Setting("How long.", Range = "1ms..1h")]
    public TimeSpan Timeout { get; init; } = TimeSpan.FromSeconds(60);
}

internal sealed record MapStepConfig : SettingsRecord
{
    [Setting("The map.", Main = true, Reference = "maps")]
    public required string Map { get; init; }
}

internal sealed record SchemaStepConfig : SettingsRecord
{
    [Setting("The schema.", Main = true, Reference = "schemas")]
    public required string Schema { get; init; }
}

internal sealed record SetConfig : SettingsRecord
{
    [Setting("Headers.")]
    public IReadOnlyDictionary<string, ValueConfig> Headers { get; init; } = new Dictionary<string, ValueConfig>();
}

internal sealed record AuditConfig : SettingsRecord
{
    [Setting("The name of the fact.", Main = true)]
    public required string As { get; init; }

    [Setting("The fields.")]
    public IReadOnlyDictionary<string, ValueConfig> Fields { get; init; } = new Dictionary<string, ValueConfig>();

    [Setting("Whether the body is kept.")]
    public bool Body { get; init; }
}

[AtMostOne("body", "template")]
internal sealed record RespondConfig : SettingsRecord
{
    [Setting("The status.", Range = "100..599")]
    public int Status { get; init; } = 200;

    [Setting("The media type.")]
    public string? ContentType { get; init; }

    [Setting("The body.")]
    public ConfigNode? Body { get; init; }

    [Setting("The body as a template.")]
    public string? Template { get; init; }
}
