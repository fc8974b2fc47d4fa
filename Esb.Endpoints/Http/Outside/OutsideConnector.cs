using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using Esb.Endpoints.Http.Transport;

namespace Esb.Endpoints.Http.Outside;

/// <summary>Opens connections to one external system. Thread-safe.</summary>
/// <param name="url">The address.</param>
/// <param name="timeout">The connect time-out.</param>
/// <param name="tls">The check of its certificate.</param>
/// <param name="time">The clock.</param>
internal sealed class OutsideConnector(Uri url, TimeSpan timeout, SslClientAuthenticationOptions tls, TimeProvider time)
{
    private readonly DnsEndPoint _address = new(url.IdnHost, url.Port);

    // Verifying a certificate may block: its thread asks whether the certificate was revoked.
    private bool IsPolled => Epoll.IsSupported && url.Scheme == Uri.UriSchemeHttp;

    /// <param name="longest">The maximum time that the caller waits.</param>
    /// <param name="cancellationToken">Cancels connecting.</param>
    /// <exception cref="HttpRequestException">The external system is unreachable, or TLS authentication failed.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled, or the time-out has elapsed.</exception>
    public async Task<OutsideConnection> ConnectAsync(TimeSpan longest, CancellationToken cancellationToken)
    {
        using var patience = new CancellationTokenSource(longest < timeout ? longest : timeout, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(patience.Token, cancellationToken);
        Stream? plain = null;
        try
        {
            plain = IsPolled ? await PolledAsync(either.Token) : await PlatformAsync(either.Token);
            return new OutsideConnection(plain, await SecureAsync(plain, either.Token), time);
        }
        catch (Exception ex)
        {
            if (plain is not null)
                await plain.DisposeAsync();
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

    // One address after the other, as the platform does.
    private async Task<Stream> PolledAsync(CancellationToken cancellationToken)
    {
        var addresses = await Dns.GetHostAddressesAsync(_address.Host, cancellationToken);
        for (var i = 0; ; i++)
        {
            try
            {
                return new PolledStream(await PolledSocket.ConnectAsync(new IPEndPoint(addresses[i], _address.Port), cancellationToken));
            }
            catch (SocketException) when (i + 1 < addresses.Length)
            {
                // the next one may answer
            }
        }
    }

    private async Task<Stream> PlatformAsync(CancellationToken cancellationToken)
    {
        var socket = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        try
        {
            await socket.ConnectAsync(_address, cancellationToken);
            return new NetworkStream(socket, ownsSocket: true);
        }
        catch
        {
            socket.Dispose();
            throw;
        }
    }

    private async Task<Stream> SecureAsync(Stream stream, CancellationToken cancellationToken)
    {
        if (url.Scheme != Uri.UriSchemeHttps)
            return stream;
        var secured = new SslStream(stream);
        await secured.AuthenticateAsClientAsync(tls, cancellationToken);
        return secured;
    }
}
