using System.Net;
using System.Net.Security;
using System.Net.Sockets;

namespace Esb.Endpoints.Http.Outside;

/// <summary>Opens connections to one external system. Thread-safe.</summary>
/// <param name="url">The address.</param>
/// <param name="timeout">The connect time-out.</param>
/// <param name="tls">The check of its certificate.</param>
/// <param name="time">The clock.</param>
internal sealed class OutsideConnector(Uri url, TimeSpan timeout, SslClientAuthenticationOptions tls, TimeProvider time)
{
    private readonly DnsEndPoint _address = new(url.IdnHost, url.Port);

    /// <param name="longest">The maximum time that the caller waits.</param>
    /// <param name="cancellationToken">Cancels connecting.</param>
    /// <exception cref="HttpRequestException">The external system is unreachable, or TLS authentication failed.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled, or the time-out has elapsed.</exception>
    public async Task<OutsideConnection> ConnectAsync(TimeSpan longest, CancellationToken cancellationToken)
    {
        using var patience = new CancellationTokenSource(longest < timeout ? longest : timeout, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(patience.Token, cancellationToken);
        var socket = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        try
        {
            await socket.ConnectAsync(_address, either.Token);
            return new OutsideConnection(socket, await SecureAsync(new NetworkStream(socket, ownsSocket: true), either.Token), time);
        }
        catch (Exception ex)
        {
            socket.Dispose();
            if (cancellationToken.IsCancellationRequested)
                throw new OperationCanceledException("The caller has gone.", ex, cancellationToken);
            if (patience.IsCancellationRequested)
                throw new OperationCanceledException("The connection was not opened in time.", ex);
            throw new HttpRequestException(
                ex is System.Security.Authentication.AuthenticationException
                    ? HttpRequestError.SecureConnectionError
                    : HttpRequestError.ConnectionError,
                "The connection was not opened.",
                ex
            );
        }
    }

    private async Task<Stream> SecureAsync(NetworkStream stream, CancellationToken cancellationToken)
    {
        if (url.Scheme != Uri.UriSchemeHttps)
            return stream;
        var secured = new SslStream(stream);
        await secured.AuthenticateAsClientAsync(tls, cancellationToken);
        return secured;
    }
}
