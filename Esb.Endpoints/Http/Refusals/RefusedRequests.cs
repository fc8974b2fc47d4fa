using System.Diagnostics;
using System.Diagnostics.Metrics;
using Esb.Core.Diagnostics;
using Esb.Delivery;
using Esb.Endpoints.Http.Listening;
using Esb.Endpoints.Http.Receiving;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;

namespace Esb.Endpoints.Http.Refusals;

/// <summary>Requests that end at a listener, before they reach an endpoint. They are counted and answered with a problem, even if the
/// server itself refuses them. Thread-safe.</summary>
/// <remarks>The server reports requests refused by its parser as a diagnostic event:
/// https://learn.microsoft.com/aspnet/core/fundamentals/servers/kestrel/diagnostics.</remarks>
internal sealed class RefusedRequests(string listener) : DiagnosticSource
{
    private const string BadRequest = "Microsoft.AspNetCore.Server.Kestrel.BadRequest";

    private static readonly Counter<long> Refused = EndpointsTelemetry.Meter.Counter<long>(EsbTelemetry.Metrics.RefusedRequests);

    public void Count(string code) =>
        Refused.Add(1, new TagList { { EsbTelemetry.Tags.Listener, listener }, { EsbTelemetry.Tags.ErrorType, code } });

    public override bool IsEnabled(string name) => name == BadRequest;

    public override void Write(string name, object? value)
    {
        if (value is not IFeatureCollection features || features.Get<IHttpResponseFeature>() is not { HasStarted: false })
            return; // already answered
        if (features.Get<IBadRequestExceptionFeature>()?.Error is not BadHttpRequestException { StatusCode: var status })
            return;

        var (code, detail) = Explain(status);
        Count(code);
        if (HttpMethods.IsHead(features.GetRequiredFeature<IHttpRequestFeature>().Method))
            return; // an answer to HEAD has no body
        var traceId = features.GetRequiredFeature<IHttpRequestIdentifierFeature>().TraceIdentifier; // no span exists yet
        features.Get<RefusalWriter>()?.AddToNextAnswer(HttpProblems.Describe(status, code, detail, traceId));
    }

    private static (string Code, string Detail) Explain(int status) =>
        status switch
        {
            StatusCodes.Status405MethodNotAllowed => ("ESB-HTTP-METHOD", "The method is not allowed with this form of target."),
            StatusCodes.Status408RequestTimeout => ("ESB-HTTP-SLOW", "The request came too slowly."),
            StatusCodes.Status414UriTooLong => (
                "ESB-HTTP-URI",
                $"The request line is longer than {ListenerLimits.MaxRequestLineBytes} bytes."
            ),
            StatusCodes.Status431RequestHeaderFieldsTooLarge => (
                "ESB-HTTP-HEADERS",
                $"The request has more than {ListenerLimits.MaxHeaders} headers, or more than {ListenerLimits.MaxHeaderBytes} bytes "
                    + $"of them."
            ),
            StatusCodes.Status505HttpVersionNotsupported => ("ESB-HTTP-VERSION", "The version of HTTP is neither 1.0 nor 1.1."),
            _ => ("ESB-HTTP-REQUEST", "The request is not written as HTTP asks."),
        };
}
