using Esb.Core.Configuration;

namespace Esb.Core.Endpoints;

/// <summary>A type of endpoint, as the configuration's <c>type</c> names it. Thread-safe.</summary>
public interface IEndpointType
{
    /// <summary>The settings record of the type.</summary>
    Type Settings { get; }

    /// <summary>Reports what is wrong with an endpoint's settings beyond what its properties say one by one.</summary>
    void Check(EndpointConfig settings, ConfigErrors errors);
}

/// <summary>A type of inbound endpoint.</summary>
public interface IInboundEndpointType : IEndpointType
{
    /// <summary>Makes the endpoint; it does nothing until it is started.</summary>
    IInboundEndpoint Create(InboundEndpointConfig settings, IMessageIntake intake);
}

/// <summary>A type of outbound endpoint.</summary>
public interface IOutboundEndpointType : IEndpointType
{
    /// <summary>Makes what the endpoint's instances share; no connection is opened yet.</summary>
    IOutboundAdapter Create(OutboundEndpointConfig settings);
}

/// <summary>Base of the types of inbound endpoints: knows its settings record.</summary>
public abstract class InboundEndpointType<TSettings> : IInboundEndpointType
    where TSettings : InboundEndpointConfig
{
    /// <inheritdoc/>
    public Type Settings => typeof(TSettings);

    /// <inheritdoc/>
    public void Check(EndpointConfig settings, ConfigErrors errors) => Check((TSettings)settings, errors);

    /// <inheritdoc/>
    public IInboundEndpoint Create(InboundEndpointConfig settings, IMessageIntake intake) => Create((TSettings)settings, intake);

    /// <inheritdoc cref="IEndpointType.Check"/>
    protected virtual void Check(TSettings settings, ConfigErrors errors)
    {
    }

    /// <inheritdoc cref="IInboundEndpointType.Create"/>
    protected abstract IInboundEndpoint Create(TSettings settings, IMessageIntake intake);
}

/// <summary>Base of the types of outbound endpoints: knows its settings record.</summary>
public abstract class OutboundEndpointType<TSettings> : IOutboundEndpointType
    where TSettings : OutboundEndpointConfig
{
    /// <inheritdoc/>
    public Type Settings => typeof(TSettings);

    /// <inheritdoc/>
    public void Check(EndpointConfig settings, ConfigErrors errors) => Check((TSettings)settings, errors);

    /// <inheritdoc/>
    public IOutboundAdapter Create(OutboundEndpointConfig settings) => Create((TSettings)settings);

    /// <inheritdoc cref="IEndpointType.Check"/>
    protected virtual void Check(TSettings settings, ConfigErrors errors)
    {
    }

    /// <inheritdoc cref="IOutboundEndpointType.Create"/>
    protected abstract IOutboundAdapter Create(TSettings settings);
}
