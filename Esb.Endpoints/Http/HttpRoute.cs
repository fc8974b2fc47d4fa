using System.Diagnostics;
using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http;

/// <summary>A path and its methods, kept for one inbound endpoint. Known from the start, so that callers are told to come back, and not that nothing is there, while its endpoint does not run.</summary>
internal sealed class HttpRoute(string endpoint, string path, IReadOnlyList<string> methods)
{
    private volatile RequestDelegate? _handler;

    public string Endpoint => endpoint;

    public string Path => path;

    public IReadOnlyList<string> Methods => methods;

    public void Open(RequestDelegate handler) => _handler = handler;

    public void Close() => _handler = null;

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
        return _handler is { } handler ? handler(context) : throw HttpProblems.Of(StatusCodes.Status503ServiceUnavailable, "ESB-HTTP-STOPPED", "The endpoint is not running at the moment.");
    }
}
