using Esb.Core.Messages;
using Esb.Core.Processes;

namespace Esb.Core.Endpoints;

/// <summary>Calls outbound endpoints directly, without a topic, on the instances of their pools. Thread-safe.</summary>
public interface IEndpointCaller
{
    /// <summary>Sends a message to an endpoint and returns its answer, whatever the status.</summary>
    /// <param name="endpoint">The endpoint's name.</param>
    /// <param name="message">The message; its body is buffered.</param>
    /// <param name="unitOfWork">The transaction of the process, which an endpoint joins if it can. Null outside a transaction.</param>
    /// <param name="cancellationToken">Cancels waiting and sending.</param>
    /// <returns>The answer, with its status code in the header <see cref="EsbHeaders.Status"/>; null if the external system gives
    /// none.</returns>
    /// <exception cref="Errors.EsbException">Time-out (504), lost connection (502), no instance became free (503).</exception>
    ValueTask<EsbMessage?> CallAsync(string endpoint, EsbMessage message, IUnitOfWork? unitOfWork, CancellationToken cancellationToken);
}
