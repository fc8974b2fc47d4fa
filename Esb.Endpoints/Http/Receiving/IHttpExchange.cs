using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http.Receiving;

/// <summary>What an endpoint does with a request that it lets in. Thread-safe.</summary>
internal interface IHttpExchange
{
    /// <summary>Works on a request and answers it.</summary>
    /// <param name="context">The request and its answer.</param>
    /// <param name="aborting">Cancelled when the host can wait no longer.</param>
    /// <exception cref="Core.Errors.EsbException">It failed; nothing has been answered yet.</exception>
    Task HandleAsync(HttpContext context, CancellationToken aborting);
}
