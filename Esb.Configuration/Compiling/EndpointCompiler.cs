using Esb.Configuration.Rules;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;
using Esb.Core.Expressions;
using Esb.Core.Storage;
using Esb.Core.Topics;

namespace Esb.Configuration.Compiling;

/// <summary>Compiles the section <c>endpoints</c>, each endpoint by its type.</summary>
internal sealed class EndpointCompiler(
    IReadOnlyDictionary<string, EndpointConfig> endpoints,
    ConfigErrors errors,
    IEnumerable<SettingsKind> kinds,
    IEnumerable<IEndpointType> types,
    LimitsConfig limits,
    IReadOnlyDictionary<string, ConnectionConfig> connections,
    IReadOnlyDictionary<string, TopicConfig> topics,
    IExpressionCompiler? expressions = null,
    IEnumerable<IAddedEndpoints>? added = null,
    SequenceUses? sequences = null
) : ICompiler<EndpointModels>
{
    // Settings that do not affect the instances: they are evaluated before an instance is rented, or afterwards.
    private static readonly string[] BeforeInstances =
    [
        "subscribe",
        "filter",
        "retry",
        "onFailure",
        "prefetch",
        "poolSize",
        "processingThreads",
        "audit",
        "party",
        "circuitBreaker",
        "rate",
        "waitingHigh",
        "waitingLow",
        "paused",
        "roles",
    ];

    // Settings that an inbound endpoint delegates to its intake.
    private static readonly string[] BehindIntake = ["process", "publish", "dedupe", "audit", "party", "roles"];

    private readonly ILookup<Type?, string> _names = kinds.ToLookup(kind => kind.Settings, kind => kind.Kind);
    private readonly Dictionary<Type, IEndpointType> _types = types.ToDictionary(type => type.Settings);

    public EndpointModels Compile() =>
        new(
            [.. endpoints.Values.OfType<InboundEndpointConfig>().Select(Compile)],
            [.. endpoints.Values.OfType<OutboundEndpointConfig>().Concat((added ?? []).SelectMany(some => some.Configs)).Select(Compile)]
        );

    private InboundModel Compile(InboundEndpointConfig config)
    {
        HeaderRule.Check(config, errors);
        var create = Find<IInboundEndpointType>(config)?.Compile(config, errors);
        if (sequences?.FirstIn(config.Path) is { } used)
            RefuseSequence(used, config);
        return new InboundModel(config, NameOf(config), create) { Fingerprint = Fingerprint.Of(config, BehindIntake, limits) };
    }

    private OutboundModel Compile(OutboundEndpointConfig config)
    {
        HeaderRule.Check(config, errors);
        var create = Find<IOutboundEndpointType>(config)?.Compile(config, errors);
        var filter = config.Filter is null ? null : expressions?.Compile(config.Filter, errors);
        if (filter?.ReadsBody == true)
            errors.Add("ESB-CFG-FILTER", config, "filter", "looks at headers and the envelope only, never into the body");
        if (sequences?.FirstIn($"{config.Path}.filter") is { } used)
            RefuseSequence(used, config); // it is evaluated for messages that are not sent
        var ground = new SettingsRecord?[] { limits, config.Database is { } database ? connections.GetValueOrDefault(database) : null };
        return new OutboundModel(config, NameOf(config), filter, create)
        {
            Fingerprint = Fingerprint.Of(
                config,
                [],
                [.. ground, .. config.Subscribe.Select(pattern => topics.GetValueOrDefault(pattern.Topic))]
            ),
            AdapterFingerprint = Fingerprint.Of(config, BeforeInstances, ground),
            NumbersMessages = sequences?.FirstIn(config.Path) is not null,
        };
    }

    private void RefuseSequence(string path, EndpointConfig config) =>
        errors.Add(
            new ConfigError(
                "ESB-EXPR-TEMPLATE",
                path,
                "{sequence}",
                "expected in what an endpoint sends, and in processes; a message has no number here",
                config.Origin
            )
        );

    private string NameOf(EndpointConfig config) => _names[config.GetType()].FirstOrDefault() ?? config.GetType().Name;

    // A composition without the endpoint type starts no endpoint, but still reads its settings.
    private TType? Find<TType>(EndpointConfig config)
        where TType : class, IEndpointType => _types.GetValueOrDefault(config.GetType()) as TType;
}
