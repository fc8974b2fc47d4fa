using System.Net;
using System.Net.Security;
using System.Net.Sockets;

namespace Esb.Endpoints.Http.Outside;

/// <summary>Opens connections to one outside. Thread-safe.</summary>
/// <param name="url">Where it is.</param>
/// <param name="timeout">How long a connection may take.</param>
/// <param name="tls">How its certificate is checked.</param>
/// <param name="time">The time.</param>
internal sealed class OutsideConnector(Uri url, TimeSpan timeout, SslClientAuthenticationOptions tls, TimeProvider time)
{
    private readonly DnsEndPoint _address = new(url.IdnHost, url.Port);

    /// <param name="longest">How long whoever wants it waits at most.</param>
    /// <param name="cancellationToken">Ends connecting.</param>
    /// <exception cref="HttpRequestException">The outside cannot be reached, or is not who it should be.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled, or the time is up.</exception>
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
            if (cancellationToken.IsCancellationRequested) throw new OperationCanceledException("The caller has gone.", ex, cancellationToken);
            if (patience.IsCancellationRequested) throw new OperationCanceledException("The connection was not opened in time.", ex);
            throw new HttpRequestException(
                ex is System.Security.Authentication.AuthenticationException ? HttpRequestError.SecureConnectionError : HttpRequestError.ConnectionError, "The connection was not opened.", ex);
        }
    }

    private async Task<Stream> SecureAsync(NetworkStream stream, CancellationToken cancellationToken)
    {
        if (url.Scheme != Uri.UriSchemeHttps) return stream;
        var secured = new SslStream(stream);
        await secured.AuthenticateAsClientAsync(tls, cancellationToken);
        return secured;
    }
}
