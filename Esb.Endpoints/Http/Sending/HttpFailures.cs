using System.Net.Sockets;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Endpoints.Http.Tls;

namespace Esb.Endpoints.Http.Sending;

/// <summary>Failures of requests that get no answer.</summary>
internal static class HttpFailures
{
    private const int LongestFault = 300;

    /// <summary>Maps an exception to a failure; null for exceptions not caused by HTTP: those of the bus, and cancellation by the
    /// caller.</summary>
    /// <param name="endpoint">The endpoint's name.</param>
    /// <param name="address">The address that was asked; only its scheme, host and port are shown, and only to operators.</param>
    /// <param name="exception">The exception.</param>
    /// <param name="cancellationToken">The caller's token.</param>
    public static EndpointException? Of(string endpoint, Uri address, Exception exception, CancellationToken cancellationToken) =>
        exception switch
        {
            _ when cancellationToken.IsCancellationRequested => null,
            // The platform's client throws a bare SocketException for a connection that is reset between being opened and being used.
            HttpRequestException { HttpRequestError: HttpRequestError.ConnectionError or HttpRequestError.NameResolutionError }
            or SocketException => new EndpointException(
                endpoint,
                "ESB-HTTP-UNREACHABLE",
                $"The endpoint '{endpoint}' cannot be reached.",
                isTransient: true,
                exception
            )
            {
                IsOutage = true,
                Detail = ConnectionTrouble.Describe(ConnectionTrouble.PlaceOf(address), exception),
            },

            HttpRequestException { HttpRequestError: HttpRequestError.SecureConnectionError, InnerException: var cause } =>
                new EndpointException(
                    endpoint,
                    "ESB-HTTP-TLS",
                    $"The endpoint '{endpoint}' cannot be reached over TLS: {FaultOf(cause)}.",
                    isTransient: true,
                    exception
                )
                {
                    IsOutage = true,
                    Detail = $"{ConnectionTrouble.PlaceOf(address)}: {TlsFaultOf(cause)}.",
                },

            // Not an outage by itself: one message may make the server disconnect each time, and must not block the others for ever.
            HttpRequestException or IOException => new EndpointException(
                endpoint,
                "ESB-HTTP-LOST",
                $"The connection to the endpoint '{endpoint}' was lost before its answer was complete.",
                isTransient: true,
                exception
            )
            {
                IsUnanswered = true,
                Detail = ConnectionTrouble.Describe(ConnectionTrouble.PlaceOf(address), exception),
            },

            // Not the caller's token: the connect time-out has elapsed.
            OperationCanceledException => new EndpointException(
                endpoint,
                "ESB-HTTP-UNREACHABLE",
                $"The endpoint '{endpoint}' does not take the connection.",
                isTransient: true,
                exception,
                FaultKind.Timeout
            )
            {
                IsOutage = true,
                Detail = ConnectionTrouble.Describe(ConnectionTrouble.PlaceOf(address), exception),
            },
            _ => null,
        };

    // What the framework and the system's library say about TLS names no values of messages.
    private static string TlsFaultOf(Exception? cause) =>
        SafeText.Of((cause?.InnerException ?? cause)?.Message.TrimEnd('.') ?? "TLS could not be agreed on", LongestFault);

    // The content of other messages is unknown, so they are not shown.
    private static string FaultOf(Exception? cause) =>
        cause is UntrustedServerException ? cause.Message : "the server and this client do not agree";
}
