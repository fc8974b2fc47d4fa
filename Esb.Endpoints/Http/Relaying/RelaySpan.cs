using System.Diagnostics;
using Esb.Core.Errors;
using Esb.Delivery;

namespace Esb.Endpoints.Http.Relaying;

/// <summary>The span of a relayed request, as the platform's own client would emit it. See
/// https://opentelemetry.io/docs/specs/semconv/http/http-spans/.</summary>
internal static class RelaySpan
{
    public static Activity? Start(string method, Uri url)
    {
        var span = EndpointsTelemetry.Source.StartActivity(method, ActivityKind.Client);
        if (span is not { IsAllDataRequested: true })
            return span;
        return span.SetTag("http.request.method", method)
            .SetTag("server.address", url.Host)
            .SetTag("server.port", url.Port)
            .SetTag("url.full", url.GetLeftPart(UriPartial.Path));
    }

    public static void End(Activity? span, int status)
    {
        if (span is not { IsAllDataRequested: true })
            return;
        span.SetTag("http.response.status_code", status);
        if (status >= 400)
            span.SetStatus(ActivityStatusCode.Error)
                .SetTag("error.type", status.ToString(System.Globalization.CultureInfo.InvariantCulture));
    }

    public static void Fail(Activity? span, Exception failure)
    {
        if (span is not { IsAllDataRequested: true })
            return;
        span.SetStatus(ActivityStatusCode.Error).SetTag("error.type", (failure as EsbException)?.Code ?? failure.GetType().FullName);
    }
}
