using Esb.Core.Messages;
using Esb.Core.Processes;

namespace Esb.Core.Endpoints;

/// <summary>An instance of an endpoint that sends to the outside. One caller uses it at a time.</summary>
public interface IOutboundEndpoint
{
    /// <summary>Sends a message; when this returns, the outside has it.</summary>
    /// <returns>The answer; null where the outside gives none.</returns>
    /// <exception cref="Errors.EndpointException">It was not sent, or nobody can tell.</exception>
    ValueTask<EsbMessage?> SendAsync(EsbMessage message, CancellationToken cancellationToken);
}

/// <summary>An instance whose effect can be a part of a transaction that a process is in.</summary>
public interface ITransactionalEndpoint : IOutboundEndpoint
{
    /// <summary>As <see cref="IOutboundEndpoint.SendAsync"/>, but the effect is there only once the unit of work is committed.</summary>
    ValueTask<EsbMessage?> SendAsync(EsbMessage message, IUnitOfWork unitOfWork, CancellationToken cancellationToken);
}

/// <summary>An instance that keeps a host which has lost its lease from having an effect, or lets the outside do so (pattern: fencing token).</summary>
public interface IFencedEndpoint : IOutboundEndpoint
{
    /// <summary>The code of an attempt that came too late.</summary>
    const string FencingCode = "ESB-ENDPOINT-FENCED";

    /// <summary>As <see cref="IOutboundEndpoint.SendAsync"/>, under a lease.</summary>
    /// <param name="message">What is sent.</param>
    /// <param name="fencingToken">The token of the lease: whoever holds it later has a larger one.</param>
    /// <param name="cancellationToken">Stops sending.</param>
    /// <exception cref="Errors.EndpointException">Also <see cref="FencingCode"/>: a larger token was there before, and nothing took effect.</exception>
    ValueTask<EsbMessage?> SendAsync(EsbMessage message, long fencingToken, CancellationToken cancellationToken);
}

/// <summary>What the instances of an outbound endpoint share where the outside remembers the largest token by itself. Thread-safe.</summary>
public interface IFencingAdapter : IOutboundAdapter
{
    /// <summary>Shows the outside the token of a new lease; when this returns, smaller ones have no effect there any more.</summary>
    /// <exception cref="Errors.EndpointException">The outside cannot be reached, or has seen a larger one (<see cref="IFencedEndpoint.FencingCode"/>).</exception>
    Task RaiseFenceAsync(long fencingToken, CancellationToken cancellationToken);
}

/// <summary>What the instances of one outbound endpoint share, such as connections. Thread-safe; disposed after its instances.</summary>
public interface IOutboundAdapter : IAsyncDisposable
{
    /// <summary>Makes an instance; cheap, and without a connection to the outside.</summary>
    IOutboundEndpoint CreateInstance();

    /// <summary>So many instances may exist at once from now on, and so many of them deliver: an operator has changed <c>poolSize</c> or <c>processingThreads</c>. For adapters that bound something else by them as well.</summary>
    void Resize(int poolSize, int processingThreads)
    {
    }

    /// <summary>Why an answer to a delivered message means that it failed, such as a status outside 2xx; null when it does not. Callers take any answer.</summary>
    Errors.EndpointException? FailureOf(EsbMessage answer) => null;
}

/// <summary>An endpoint that reads from outside and hands messages to its intake. Thread-safe.</summary>
public interface IInboundEndpoint : IAsyncDisposable
{
    /// <summary>Begins to read; returns once it does, or once it keeps trying by itself.</summary>
    Task StartAsync(CancellationToken cancellationToken);

    /// <summary>Stops reading and waits for what is under way, until the token is cancelled.</summary>
    Task StopAsync(CancellationToken cancellationToken);
}
