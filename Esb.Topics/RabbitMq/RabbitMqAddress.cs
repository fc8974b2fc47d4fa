using System.Net;
using Esb.Topics.RabbitMq.Tls;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq;

/// <summary>The broker's address, read from a URL as https://www.rabbitmq.com/docs/uri-spec describes it.</summary>
internal sealed record RabbitMqAddress(string Host, int Port, string VirtualHost, string User, string Password, bool IsTls)
{
    // Not the client's default of 64 MiB: a larger message would cost the connection at every delivery. The broker has a limit of its own.
    public const uint MaxMessageBytes = 512 * 1024 * 1024;

    private const string DefaultUser = "guest";

    /// <summary>Stands for an address that is none: the configuration is refused then, before anything connects.</summary>
    public static readonly RabbitMqAddress None = new("", 0, "/", "", "", IsTls: false);

    private static readonly TimeSpan ConnectTimeout = TimeSpan.FromSeconds(10);

    /// <summary>How a TLS connection is secured; null for the authorities of the system.</summary>
    public BrokerTls? Tls { get; init; }

    public bool HasDefaultCredentials => User == DefaultUser && Password == DefaultUser;

    public bool IsLoopback => Host == "localhost" || (IPAddress.TryParse(Host, out var address) && IPAddress.IsLoopback(address));

    /// <summary>Reads a URL; null when it is none of a broker.</summary>
    public static RabbitMqAddress? Parse(string url)
    {
        if (!Uri.TryCreate(url, UriKind.Absolute, out var uri) || uri.Scheme is not ("amqp" or "amqps") || uri.Host.Length == 0) return null;
        if (uri.Query.Length > 0 || uri.Fragment.Length > 0) return null;
        var credentials = uri.UserInfo.Split(':', 2);
        var isTls = uri.Scheme == "amqps";
        return new RabbitMqAddress(
            uri.IdnHost,
            uri.IsDefaultPort || uri.Port < 0 ? isTls ? 5671 : 5672 : uri.Port,
            uri.AbsolutePath.Length <= 1 ? "/" : Uri.UnescapeDataString(uri.AbsolutePath[1..]),
            credentials[0].Length == 0 ? DefaultUser : Uri.UnescapeDataString(credentials[0]),
            credentials.Length < 2 ? DefaultUser : Uri.UnescapeDataString(credentials[1]),
            isTls);
    }

    /// <summary>The address that a valid configuration names.</summary>
    public static RabbitMqAddress Of(RabbitMqTransportConfig config, DateTimeOffset now)
    {
        var address = Parse(config.Url) ?? None;
        return config.Tls is { } tls ? address with { Tls = new BrokerTls(address.Host, tls, now) } : address;
    }

    public ConnectionFactory ToFactory(string connectionName, TimeSpan? heartbeat = null)
    {
        var factory = new ConnectionFactory
        {
            HostName = Host,
            Port = Port,
            VirtualHost = VirtualHost,
            UserName = User,
            Password = Password,
            ClientProvidedName = connectionName,
            AutomaticRecoveryEnabled = false, // recovery is ours: the client's forgets what was in flight
            TopologyRecoveryEnabled = false,
            RequestedConnectionTimeout = ConnectTimeout,
            ContinuationTimeout = ConnectTimeout,
            RequestedHeartbeat = heartbeat ?? TimeSpan.FromSeconds(10),
            MaxInboundMessageBodySize = MaxMessageBytes,
        };
        Secure(factory);
        return factory;
    }

    /// <summary>What our own connections and those of the bus have in common below AMQP.</summary>
    public void Secure(ConnectionFactory factory)
    {
        factory.SocketFactory = BrokerSocket.Create;
        if (IsTls) factory.Ssl = (Tls ?? BrokerTls.OfSystem(Host)).ToOption();
    }
}
