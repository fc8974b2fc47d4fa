using System.Diagnostics;
using Esb.Core.Errors;
using Esb.Endpoints.Http.Receiving;
using Esb.Endpoints.Http.Refusals;
using Esb.Endpoints.Http.Transport;
using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http.Listening;

/// <summary>A path and its methods, reserved for one inbound endpoint. The route exists from the start: while the endpoint does not run,
/// callers are asked to retry instead of getting a not-found answer.</summary>
internal sealed class HttpRoute(
    string endpoint,
    string path,
    IReadOnlyList<string> methods,
    IReadOnlyList<string> accept,
    IFailureAnswers failures
)
{
    private readonly AcceptedTypes _accepted = new(accept);
    private volatile Opened? _opened;

    /// <summary>True if an endpoint has the same path, methods, content types and form of failures.</summary>
    public bool IsOf(ListeningEndpointConfig config) =>
        path == config.RequestPath
        && methods.SequenceEqual(config.Methods)
        && accept.SequenceEqual(config.Accept)
        && failures == config.Failures;

    public string Endpoint => endpoint;

    /// <summary>The path as configured, with its placeholders.</summary>
    public string Text => path;

    public RoutePath Path { get; } = new(path);

    /// <summary>The form in which its callers are told of failures.</summary>
    public IFailureAnswers Failures => failures;

    public IReadOnlyList<string> Methods => methods;

    /// <summary>True if the route is limited to some content types; it then precedes routes for all types.</summary>
    public bool IsForSomeTypes => accept.Count > 0;

    public bool TakesType(string? contentType) => _accepted.Take(contentType);

    /// <param name="handler">Answers the requests from now on.</param>
    /// <param name="isBrief">True if it neither blocks nor computes for long, whatever the request.</param>
    public void Open(RequestDelegate handler, bool isBrief) => _opened = new Opened(handler, isBrief);

    /// <summary>Closes the route, unless another handler has been opened since.</summary>
    public void Close(RequestDelegate handler)
    {
        if (_opened is { } opened && opened.Handler == handler)
            Interlocked.CompareExchange(ref _opened, null, opened);
    }

    public bool Takes(string method)
    {
        foreach (var taken in methods)
        {
            if (taken == method)
                return true;
        }

        return false;
    }

    public Task HandleAsync(HttpContext context)
    {
        // The server's own span is used: a second span would show the same request twice. Only an export needs tags.
        if (Activity.Current is { IsAllDataRequested: true } activity && activity.Source.HasListeners())
            activity.SetTag("http.route", path).DisplayName = $"{context.Request.Method} {path}";
        return _opened is { } opened ? RequestScheduler.RunAsync(context, opened.Handler, opened.IsBrief) : throw NotRunning(null);
    }

    public static EsbException NotRunning(Exception? cause) =>
        HttpProblems.Of(StatusCodes.Status503ServiceUnavailable, "ESB-HTTP-STOPPED", "The endpoint is not running at the moment.", cause);

    private sealed record Opened(RequestDelegate Handler, bool IsBrief);
}
