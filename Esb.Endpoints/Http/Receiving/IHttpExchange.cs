using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http.Receiving;

/// <summary>Handles the admitted requests of an endpoint. Thread-safe.</summary>
internal interface IHttpExchange
{
    /// <summary>True if no request blocks a thread or computes for long: it may stay on a thread that waits for sockets.</summary>
    bool IsBrief => false;

    /// <summary>Processes a request and answers it.</summary>
    /// <param name="context">The request and its answer.</param>
    /// <param name="aborting">Cancelled when the host cannot wait any longer.</param>
    /// <exception cref="Core.Errors.EsbException">The request failed; no answer has been sent yet.</exception>
    Task HandleAsync(HttpContext context, CancellationToken aborting);
}
