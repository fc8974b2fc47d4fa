using Esb.Core.Expressions;

namespace Esb.Core.Endpoints;

/// <summary>A compiled endpoint. Immutable.</summary>
/// <param name="Type">The name of its type, such as <c>http-inbound</c>.</param>
public abstract record EndpointModel(string Type);

/// <summary>A compiled inbound endpoint. Immutable.</summary>
/// <param name="Config">Its settings.</param>
/// <param name="Type">The name of its type.</param>
/// <param name="Create">Creates the endpoint; null after an error, when nothing is started.</param>
public sealed record InboundModel(InboundEndpointConfig Config, string Type, CreateInbound? Create) : EndpointModel(Type)
{
    /// <summary>Equal for endpoints with equal settings.</summary>
    public string Fingerprint { get; init; } = "";
}

/// <summary>A compiled outbound endpoint. Immutable.</summary>
/// <param name="Config">Its settings.</param>
/// <param name="Type">The name of its type.</param>
/// <param name="Filter">The messages it accepts; null for all.</param>
/// <param name="Create">Creates the state that its instances share; null after an error, when nothing is started.</param>
public sealed record OutboundModel(OutboundEndpointConfig Config, string Type, IMessageCondition? Filter, CreateOutbound? Create)
    : EndpointModel(Type)
{
    /// <summary>Equal for endpoints with equal settings.</summary>
    public string Fingerprint { get; init; } = "";

    /// <summary>Equal for endpoints whose instances behave the same.</summary>
    public string AdapterFingerprint { get; init; } = "";

    /// <summary>True if it needs the number of each message (<c>{sequence}</c>) before it sends it.</summary>
    public bool NumbersMessages { get; init; }
}

/// <summary>The section <c>endpoints</c>, compiled. Immutable.</summary>
/// <param name="Inbound">In the order of the configuration.</param>
/// <param name="Outbound">In the order of the configuration.</param>
public sealed record EndpointModels(IReadOnlyList<InboundModel> Inbound, IReadOnlyList<OutboundModel> Outbound);
