using System.Net.Sockets;
using System.Security.Authentication;

namespace Esb.Endpoints;

/// <summary>Says why an external system cannot be reached: its address and the cause, for operators.</summary>
internal static class ConnectionTrouble
{
    /// <summary>A sentence such as <c>http://orders:8080: the connection was refused.</c></summary>
    /// <param name="address">Scheme, host and port; never user, path or query.</param>
    /// <param name="exception">What the attempt to connect threw.</param>
    public static string Describe(string address, Exception? exception) => $"{address}: {CauseOf(exception)}.";

    /// <summary>Scheme, host and port of an address.</summary>
    public static string PlaceOf(Uri address) => $"{address.Scheme}://{address.IdnHost}:{address.Port}";

    private static string CauseOf(Exception? exception)
    {
        for (var cause = exception; cause is not null; cause = cause.InnerException)
        {
            switch (cause)
            {
                case SocketException socket:
                    return CauseOf(socket.SocketErrorCode);
                case AuthenticationException:
                    return "TLS could not be agreed on";
                case TimeoutException or OperationCanceledException:
                    return "no connection in time";
            }
        }

        return "the connection was lost";
    }

    private static string CauseOf(SocketError error) =>
        error switch
        {
            SocketError.ConnectionRefused => "the connection was refused",
            SocketError.HostNotFound or SocketError.NoData => "the host name is unknown",
            SocketError.TryAgain => "the host name could not be looked up",
            SocketError.HostUnreachable or SocketError.NetworkUnreachable or SocketError.HostDown or SocketError.NetworkDown =>
                "there is no route to the host",
            SocketError.TimedOut => "no connection in time",
            SocketError.ConnectionReset or SocketError.ConnectionAborted or SocketError.NotConnected => "the connection was reset",
            SocketError.AccessDenied => "the system does not permit the connection",
            _ => $"the connection failed ({error})",
        };
}
