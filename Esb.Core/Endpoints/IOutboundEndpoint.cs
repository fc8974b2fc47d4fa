using Esb.Core.Messages;
using Esb.Core.Processes;

namespace Esb.Core.Endpoints;

/// <summary>An instance of an endpoint that sends to an external system. Used by one caller at a time.</summary>
public interface IOutboundEndpoint
{
    /// <summary>Sends a message; when it returns, the external system has received it.</summary>
    /// <returns>The answer; null if the external system gives none.</returns>
    /// <exception cref="Errors.EndpointException">The message was not sent, or the outcome is unknown.</exception>
    ValueTask<EsbMessage?> SendAsync(EsbMessage message, CancellationToken cancellationToken);

    /// <summary>True if <see cref="SendAsync"/> never blocks its thread, and ends soon after its token is cancelled. Then it is called on
    /// the caller's thread, and nothing but the token guards its time-out. By default false.</summary>
    bool IsAsynchronous => false;
}

/// <summary>An instance whose effect can join a transaction of a process.</summary>
public interface ITransactionalEndpoint : IOutboundEndpoint
{
    /// <summary>As <see cref="IOutboundEndpoint.SendAsync"/>, but takes effect only when the unit of work is committed.</summary>
    ValueTask<EsbMessage?> SendAsync(EsbMessage message, IUnitOfWork unitOfWork, CancellationToken cancellationToken);
}

/// <summary>An instance that prevents effects of a host that has lost its lease, or lets the external system prevent them (pattern: fencing
/// token).</summary>
public interface IFencedEndpoint : IOutboundEndpoint
{
    /// <summary>Code of an attempt with an outdated token.</summary>
    const string FencingCode = "ESB-ENDPOINT-FENCED";

    /// <summary>As <see cref="IOutboundEndpoint.SendAsync"/>, under a lease.</summary>
    /// <param name="message">The message.</param>
    /// <param name="fencingToken">The token of the lease; later holders have larger tokens.</param>
    /// <param name="cancellationToken">Cancels sending.</param>
    /// <exception cref="Errors.EndpointException">Also <see cref="FencingCode"/>: a larger token was seen before, and nothing took
    /// effect.</exception>
    ValueTask<EsbMessage?> SendAsync(EsbMessage message, long fencingToken, CancellationToken cancellationToken);
}

/// <summary>Shared state of an outbound endpoint's instances, for an external system that remembers the largest token itself.
/// Thread-safe.</summary>
public interface IFencingAdapter : IOutboundAdapter
{
    /// <summary>Sends the token of a new lease to the external system; when it returns, smaller tokens have no effect there.</summary>
    /// <exception cref="Errors.EndpointException">The external system is unreachable, or has seen a larger token
    /// (<see cref="IFencedEndpoint.FencingCode"/>).</exception>
    Task RaiseFenceAsync(long fencingToken, CancellationToken cancellationToken);
}

/// <summary>State shared by the instances of one outbound endpoint, such as connections. Thread-safe; disposed after its
/// instances.</summary>
public interface IOutboundAdapter : IAsyncDisposable
{
    /// <summary>Creates an instance; cheap, and without a connection to the external system.</summary>
    IOutboundEndpoint CreateInstance();

    /// <summary>Applies an operator's change of <c>poolSize</c> or <c>processingThreads</c>: the maximum instances, and the number of them
    /// that deliver. For adapters that limit other resources by them.</summary>
    void Resize(int poolSize, int processingThreads) { }

    /// <summary>Returns the failure that an answer to a delivered message indicates, such as a status outside 2xx; null if none. Callers
    /// accept any answer.</summary>
    Errors.EndpointException? FailureOf(EsbMessage answer) => null;
}

/// <summary>An endpoint that reads from an external system and hands messages to its intake. Thread-safe.</summary>
public interface IInboundEndpoint : IAsyncDisposable
{
    /// <summary>Reason why it reads nothing although it is started, brief, beginning with a code if there is one; null if none.</summary>
    string? Reason => null;

    /// <summary>Starts reading; returns once it reads, or once it keeps retrying in the background.</summary>
    Task StartAsync(CancellationToken cancellationToken);

    /// <summary>Stops reading and waits for in-flight messages, until the token is cancelled.</summary>
    Task StopAsync(CancellationToken cancellationToken);
}
