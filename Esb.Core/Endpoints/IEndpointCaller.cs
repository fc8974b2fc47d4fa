using Esb.Core.Messages;
using Esb.Core.Processes;

namespace Esb.Core.Endpoints;

/// <summary>Calls outbound endpoints directly, without a topic, on the instances of their pools. Thread-safe.</summary>
public interface IEndpointCaller
{
    /// <summary>Sends a message to an endpoint and returns its answer, whatever status it has.</summary>
    /// <param name="endpoint">The endpoint's name.</param>
    /// <param name="message">Its body is buffered.</param>
    /// <param name="unitOfWork">The transaction that the process is in; an endpoint that can takes part in it. Null outside of one.</param>
    /// <param name="cancellationToken">Stops waiting and sending.</param>
    /// <returns>The answer, its status code in the header <see cref="EsbHeaders.Status"/>; null where the outside gives none.</returns>
    /// <exception cref="Errors.EsbException">Time-out (504), lost connection (502), no instance became free (503).</exception>
    ValueTask<EsbMessage?> CallAsync(string endpoint, EsbMessage message, IUnitOfWork? unitOfWork, CancellationToken cancellationToken);
}
