using Esb.Core.Configuration;

namespace Esb.Core.Endpoints;

/// <summary>Makes an inbound endpoint on the services of a running bus, a new one each time it is called; it does nothing until it is
/// started.</summary>
/// <param name="services">The services of the bus.</param>
/// <param name="intake">Where the endpoint hands its messages to.</param>
public delegate IInboundEndpoint CreateInbound(IServiceProvider services, IMessageIntake intake);

/// <summary>Makes what the instances of an outbound endpoint share; no connection is opened yet.</summary>
/// <param name="services">The services of the bus.</param>
public delegate IOutboundAdapter CreateOutbound(IServiceProvider services);

/// <summary>A type of endpoint, as the configuration's <c>type</c> names it.</summary>
/// <remarks>Made for a compile phase: its constructor may ask for what compilers may ask for, and for nothing of a running bus.</remarks>
public interface IEndpointType
{
    /// <summary>The settings record of the type.</summary>
    Type Settings { get; }
}

/// <summary>A type of inbound endpoint.</summary>
public interface IInboundEndpointType : IEndpointType
{
    /// <summary>Compiles what an endpoint's settings hold, and reports what is wrong with them beyond what its properties say one by one.
    /// Opens nothing.</summary>
    /// <param name="settings">The settings; what could not be read has its default, and nothing is thrown because of it.</param>
    /// <param name="errors">Receives every error.</param>
    /// <returns>Makes the endpoint. Null where the settings have an error.</returns>
    CreateInbound? Compile(InboundEndpointConfig settings, ConfigErrors errors);
}

/// <summary>A type of outbound endpoint.</summary>
public interface IOutboundEndpointType : IEndpointType
{
    /// <inheritdoc cref="IInboundEndpointType.Compile"/>
    /// <returns>Makes what the endpoint's instances share. Null where the settings have an error.</returns>
    CreateOutbound? Compile(OutboundEndpointConfig settings, ConfigErrors errors);
}

/// <summary>Base of the types of inbound endpoints: knows its settings record.</summary>
public abstract class InboundEndpointType<TSettings> : IInboundEndpointType
    where TSettings : InboundEndpointConfig
{
    /// <inheritdoc/>
    public Type Settings => typeof(TSettings);

    /// <inheritdoc/>
    public CreateInbound? Compile(InboundEndpointConfig settings, ConfigErrors errors) =>
        Sound.OrNull(settings, errors, found => Compile((TSettings)settings, found));

    /// <inheritdoc cref="IInboundEndpointType.Compile"/>
    protected abstract CreateInbound? Compile(TSettings settings, ConfigErrors errors);
}

/// <summary>Base of the types of outbound endpoints: knows its settings record.</summary>
public abstract class OutboundEndpointType<TSettings> : IOutboundEndpointType
    where TSettings : OutboundEndpointConfig
{
    /// <inheritdoc/>
    public Type Settings => typeof(TSettings);

    /// <inheritdoc/>
    public CreateOutbound? Compile(OutboundEndpointConfig settings, ConfigErrors errors) =>
        Sound.OrNull(settings, errors, found => Compile((TSettings)settings, found));

    /// <inheritdoc cref="IOutboundEndpointType.Compile"/>
    protected abstract CreateOutbound? Compile(TSettings settings, ConfigErrors errors);
}

file static class Sound
{
    // Judged by the errors of this endpoint alone: one that a neighbour has too is reported once, and makes both unsound.
    public static TCreate? OrNull<TCreate>(EndpointConfig settings, ConfigErrors errors, Func<ConfigErrors, TCreate?> compile)
        where TCreate : class
    {
        var found = new ConfigErrors();
        var create = compile(found);
        errors.AddAll(found);
        return settings.IsWhole && !found.Any ? create : null;
    }
}
