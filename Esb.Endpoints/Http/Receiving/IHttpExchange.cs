using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http.Receiving;

/// <summary>Handles the admitted requests of an endpoint. Thread-safe.</summary>
internal interface IHttpExchange
{
    /// <summary>Processes a request and answers it.</summary>
    /// <param name="context">The request and its answer.</param>
    /// <param name="aborting">Cancelled when the host cannot wait any longer.</param>
    /// <exception cref="Core.Errors.EsbException">The request failed; no answer has been sent yet.</exception>
    Task HandleAsync(HttpContext context, CancellationToken aborting);
}
