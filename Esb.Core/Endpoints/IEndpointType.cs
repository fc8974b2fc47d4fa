using Esb.Core.Configuration;

namespace Esb.Core.Endpoints;

/// <summary>A type of endpoint, as the configuration's <c>type</c> names it. Thread-safe.</summary>
public interface IEndpointType
{
    /// <summary>The settings record of the type.</summary>
    Type Settings { get; }
}

/// <summary>A type of inbound endpoint.</summary>
public interface IInboundEndpointType : IEndpointType
{
    /// <summary>Compiles what an endpoint's settings hold, and reports what is wrong with them beyond what its properties say one by one. Opens nothing. Called once for each endpoint, before any message runs.</summary>
    /// <param name="settings">The settings; what could not be read has its default, and nothing is thrown because of it.</param>
    /// <param name="errors">Hears of every error.</param>
    /// <returns>Makes the endpoint for an intake, a new one each time it is called; it does nothing until it is started. Null where the settings have an error.</returns>
    Func<IMessageIntake, IInboundEndpoint>? Prepare(InboundEndpointConfig settings, ConfigErrors errors);
}

/// <summary>A type of outbound endpoint.</summary>
public interface IOutboundEndpointType : IEndpointType
{
    /// <inheritdoc cref="IInboundEndpointType.Prepare"/>
    /// <returns>Makes what the endpoint's instances share; no connection is opened yet. Null where the settings have an error.</returns>
    Func<IOutboundAdapter>? Prepare(OutboundEndpointConfig settings, ConfigErrors errors);
}

/// <summary>Base of the types of inbound endpoints: knows its settings record.</summary>
public abstract class InboundEndpointType<TSettings> : IInboundEndpointType
    where TSettings : InboundEndpointConfig
{
    /// <inheritdoc/>
    public Type Settings => typeof(TSettings);

    /// <inheritdoc/>
    public Func<IMessageIntake, IInboundEndpoint>? Prepare(InboundEndpointConfig settings, ConfigErrors errors) => Prepared.UnlessRefused(settings, errors, found => Prepare((TSettings)settings, found));

    /// <inheritdoc cref="IInboundEndpointType.Prepare"/>
    protected abstract Func<IMessageIntake, IInboundEndpoint>? Prepare(TSettings settings, ConfigErrors errors);
}

/// <summary>Base of the types of outbound endpoints: knows its settings record.</summary>
public abstract class OutboundEndpointType<TSettings> : IOutboundEndpointType
    where TSettings : OutboundEndpointConfig
{
    /// <inheritdoc/>
    public Type Settings => typeof(TSettings);

    /// <inheritdoc/>
    public Func<IOutboundAdapter>? Prepare(OutboundEndpointConfig settings, ConfigErrors errors) => Prepared.UnlessRefused(settings, errors, found => Prepare((TSettings)settings, found));

    /// <inheritdoc cref="IOutboundEndpointType.Prepare"/>
    protected abstract Func<IOutboundAdapter>? Prepare(TSettings settings, ConfigErrors errors);
}

file static class Prepared
{
    // Of this endpoint alone: an error that a neighbour has too is told once, and ours all the same.
    public static TCreate? UnlessRefused<TCreate>(EndpointConfig settings, ConfigErrors errors, Func<ConfigErrors, TCreate?> prepare)
        where TCreate : class
    {
        var found = new ConfigErrors();
        var create = prepare(found);
        errors.AddAll(found);
        return settings.IsWhole && !found.Any ? create : null;
    }
}
