using System.Diagnostics;
using Esb.Core.Errors;
using Esb.Endpoints.Http.Receiving;
using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http.Listening;

/// <summary>A path and its methods, kept for one inbound endpoint. Known from the start, so that callers are told to come back, and not that nothing is there, while its endpoint does not run.</summary>
internal sealed class HttpRoute(string endpoint, string path, IReadOnlyList<string> methods, IReadOnlyList<string> accept)
{
    private readonly AcceptedTypes _accepted = new(accept);
    private volatile RequestDelegate? _handler;

    /// <summary>Whether an endpoint is reached in the same way.</summary>
    public bool IsOf(ListeningEndpointConfig config) => path == config.RequestPath && methods.SequenceEqual(config.Methods) && accept.SequenceEqual(config.Accept);

    public string Endpoint => endpoint;

    public string Path => path;

    public IReadOnlyList<string> Methods => methods;

    /// <summary>Whether it is for some content types only: then it comes before one that is for all.</summary>
    public bool IsForSomeTypes => accept.Count > 0;

    public bool TakesType(string? contentType) => _accepted.Take(contentType);

    public void Open(RequestDelegate handler) => _handler = handler;

    /// <summary>Closes it, unless another has opened it since.</summary>
    public void Close(RequestDelegate handler) => Interlocked.CompareExchange(ref _handler, null, handler);

    public bool Takes(string method)
    {
        foreach (var taken in methods)
        {
            if (taken == method) return true;
        }

        return false;
    }

    public Task HandleAsync(HttpContext context)
    {
        // The server's own span: ours would show the same thing twice.
        if (Activity.Current is { IsAllDataRequested: true } activity) activity.SetTag("http.route", path).DisplayName = $"{context.Request.Method} {path}";
        return _handler is { } handler ? handler(context) : throw NotRunning(null);
    }

    public static EsbException NotRunning(Exception? cause) =>
        HttpProblems.Of(StatusCodes.Status503ServiceUnavailable, "ESB-HTTP-STOPPED", "The endpoint is not running at the moment.", cause);
}
