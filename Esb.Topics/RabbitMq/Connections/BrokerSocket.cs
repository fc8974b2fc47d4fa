using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq.Connections;

/// <summary>A socket to the broker, over TLS where that is configured.</summary>
/// <remarks>TLS is established here and not by the client, because the broker's bytes are examined before the client reads them: see
/// <see cref="BrokerStream"/>.</remarks>
internal sealed class BrokerSocket(AddressFamily family, SslClientAuthenticationOptions? tls)
    : TcpClientAdapter(new Socket(family, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true })
{
    private Stream? _stream;

    public override async Task ConnectAsync(IPAddress ep, int port, CancellationToken cancellationToken = default)
    {
        await base.ConnectAsync(ep, port, cancellationToken);
        _stream = new EndingStream(Client);
        if (tls is null)
            return;
        var secured = new SslStream(_stream, leaveInnerStreamOpen: false);
        _stream = secured;
        await secured.AuthenticateAsClientAsync(tls, cancellationToken);
    }

    public override NetworkStream GetStream() =>
        new BrokerStream(Client, _stream ?? throw new InvalidOperationException("The socket is not connected."));

    public override void Close()
    {
        _stream?.Dispose();
        base.Close();
    }
}
