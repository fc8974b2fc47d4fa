using Esb.Core.Errors;
using Esb.Endpoints.Http.Tls;

namespace Esb.Endpoints.Http.Sending;

/// <summary>What it means when a request gets no answer.</summary>
internal static class HttpFailures
{
    /// <summary>The failure, or null for what is none of HTTP: our own exceptions, and cancellation by the caller.</summary>
    public static EndpointException? Of(string endpoint, Exception exception, CancellationToken cancellationToken) => exception switch
    {
        _ when cancellationToken.IsCancellationRequested => null,
        HttpRequestException { HttpRequestError: HttpRequestError.ConnectionError or HttpRequestError.NameResolutionError } =>
            new EndpointException(endpoint, "ESB-HTTP-UNREACHABLE", $"The endpoint '{endpoint}' cannot be reached.", isTransient: true, exception) { IsOutage = true },

        HttpRequestException { HttpRequestError: HttpRequestError.SecureConnectionError, InnerException: var cause } =>
            new EndpointException(endpoint, "ESB-HTTP-TLS", $"The endpoint '{endpoint}' cannot be reached over TLS: {FaultOf(cause)}.", isTransient: true, exception) { IsOutage = true },

        // No outage by itself: one message may make the other side hang up each time, and must not hold up the others for ever.
        HttpRequestException or IOException =>
            new EndpointException(endpoint, "ESB-HTTP-LOST", $"The connection to the endpoint '{endpoint}' was lost before its answer was complete.", isTransient: true, exception) { IsUnanswered = true },

        // Not our token: the time to connect is up.
        OperationCanceledException =>
            new EndpointException(endpoint, "ESB-HTTP-UNREACHABLE", $"The endpoint '{endpoint}' does not take the connection.", isTransient: true, exception, FaultKind.Timeout) { IsOutage = true },
        _ => null,
    };

    // Of other sentences nobody knows what they hold.
    private static string FaultOf(Exception? cause) => cause is UntrustedServerException ? cause.Message : "the server and this client do not agree";
}
