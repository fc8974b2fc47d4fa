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

/// <summary>What the instances of one outbound endpoint share, such as connections. Thread-safe; disposed after its instances.</summary>
public interface IOutboundAdapter : IAsyncDisposable
{
    /// <summary>Makes an instance; cheap, and without a connection to the outside.</summary>
    IOutboundEndpoint CreateInstance();

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
