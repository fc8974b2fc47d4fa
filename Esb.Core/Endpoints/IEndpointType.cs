using Esb.Core.Configuration;

namespace Esb.Core.Endpoints;

/// <summary>Creates an inbound endpoint on the services of a running bus, a new one for each call; it is idle until it is
/// started.</summary>
/// <param name="services">The services of the bus.</param>
/// <param name="intake">The intake that receives the endpoint's messages.</param>
public delegate IInboundEndpoint CreateInbound(IServiceProvider services, IMessageIntake intake);

/// <summary>Creates the state that the instances of an outbound endpoint share; opens no connection.</summary>
/// <param name="services">The services of the bus.</param>
public delegate IOutboundAdapter CreateOutbound(IServiceProvider services);

/// <summary>A type of endpoint, as named by <c>type</c> in the configuration.</summary>
/// <remarks>Created for a compile phase: its constructor may request the services of compilers, but none of a running bus.</remarks>
public interface IEndpointType
{
    /// <summary>The settings record of the type.</summary>
    Type Settings { get; }
}

/// <summary>A type of inbound endpoint.</summary>
public interface IInboundEndpointType : IEndpointType
{
    /// <summary>Compiles the settings of an endpoint, and reports errors beyond those of single properties. Opens nothing.</summary>
    /// <param name="settings">The settings; unreadable properties hold their defaults, and cause no exception.</param>
    /// <param name="errors">Receives every error.</param>
    /// <returns>Creates the endpoint. Null if the settings have an error.</returns>
    CreateInbound? Compile(InboundEndpointConfig settings, ConfigErrors errors);
}

/// <summary>A type of outbound endpoint.</summary>
public interface IOutboundEndpointType : IEndpointType
{
    /// <inheritdoc cref="IInboundEndpointType.Compile"/>
    /// <returns>Creates the state that the endpoint's instances share. Null if the settings have an error.</returns>
    CreateOutbound? Compile(OutboundEndpointConfig settings, ConfigErrors errors);
}

/// <summary>Base of the types of inbound endpoints: provides the settings record.</summary>
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

/// <summary>Base of the types of outbound endpoints: provides the settings record.</summary>
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
    // Judged by the errors of this endpoint alone: an error shared with a neighbour is reported once, and makes both unsound.
    public static TCreate? OrNull<TCreate>(EndpointConfig settings, ConfigErrors errors, Func<ConfigErrors, TCreate?> compile)
        where TCreate : class
    {
        var found = new ConfigErrors();
        var create = compile(found);
        errors.AddAll(found);
        return settings.IsWhole && !found.Any ? create : null;
    }
}
