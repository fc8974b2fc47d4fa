using System.Text.RegularExpressions;
using Esb.Topics.RabbitMq.Tls;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq.Connections;

/// <summary>The broker's address, read from a URL as https://www.rabbitmq.com/docs/uri-spec describes it; the nodes of a cluster stand in it side by side, with commas between them.</summary>
internal sealed partial record RabbitMqAddress(IReadOnlyList<BrokerNode> Nodes, string VirtualHost, string User, string Password, bool IsTls)
{
    // Not the client's default of 64 MiB: a larger message would cost the connection at every delivery. The broker has a limit of its own.
    public const uint MaxMessageBytes = 512 * 1024 * 1024;

    private const string DefaultUser = "guest";

    /// <summary>Stands for an address that is none: the configuration is refused then, before anything connects.</summary>
    public static readonly RabbitMqAddress None = new([new BrokerNode("", 0)], "/", "", "", IsTls: false);

    /// <summary>How long the broker may take to answer a question.</summary>
    public static readonly TimeSpan Patience = TimeSpan.FromSeconds(10);

    private static readonly TimeSpan PatienceInCluster = TimeSpan.FromSeconds(5); // another node is the quicker way

    /// <summary>How a TLS connection is secured; null for the authorities of the system.</summary>
    public BrokerTls? Tls { get; init; }

    public bool HasDefaultCredentials => User == DefaultUser && Password == DefaultUser;

    public bool IsLoopback => Nodes.All(node => node.IsLoopback);

    /// <summary>How long a node may take to answer while a connection is opened.</summary>
    public TimeSpan ConnectTimeout => Nodes.Count > 1 ? PatienceInCluster : Patience;

    /// <summary>Reads a URL; null when it is none of a broker.</summary>
    public static RabbitMqAddress? Parse(string url)
    {
        var parts = Parts().Match(url);
        var addresses = parts.Groups["nodes"].Value.Split(',').Select(node => ParseSingle($"{parts.Groups["before"]}{node}{parts.Groups["after"]}")).ToList();
        return addresses.Any(address => address is null) ? null : addresses[0]! with { Nodes = [.. addresses.SelectMany(address => address!.Nodes).Distinct()] };
    }

    private static RabbitMqAddress? ParseSingle(string url)
    {
        if (!Uri.TryCreate(url, UriKind.Absolute, out var uri) || uri.Scheme is not ("amqp" or "amqps") || uri.Host.Length == 0) return null;
        if (uri.Query.Length > 0 || uri.Fragment.Length > 0) return null;
        var credentials = uri.UserInfo.Split(':', 2);
        var isTls = uri.Scheme == "amqps";
        return new RabbitMqAddress(
            [new BrokerNode(uri.IdnHost, uri.IsDefaultPort || uri.Port < 0 ? isTls ? 5671 : 5672 : uri.Port)],
            uri.AbsolutePath.Length <= 1 ? "/" : Uri.UnescapeDataString(uri.AbsolutePath[1..]),
            credentials[0].Length == 0 ? DefaultUser : Uri.UnescapeDataString(credentials[0]),
            credentials.Length < 2 ? DefaultUser : Uri.UnescapeDataString(credentials[1]),
            isTls);
    }

    /// <summary>The address that a valid configuration names.</summary>
    public static RabbitMqAddress Of(RabbitMqTransportConfig config, DateTimeOffset now)
    {
        var address = Parse(config.Url) ?? None;
        return config.Tls is { } tls ? address with { Tls = new BrokerTls(tls, now) } : address;
    }

    public ConnectionFactory ToFactory(string connectionName, TimeSpan? heartbeat = null)
    {
        var factory = new ConnectionFactory
        {
            HostName = Nodes[0].Host,
            Port = Nodes[0].Port,
            VirtualHost = VirtualHost,
            UserName = User,
            Password = Password,
            ClientProvidedName = connectionName,
            AutomaticRecoveryEnabled = false, // recovery is ours: the client's forgets what was in flight
            TopologyRecoveryEnabled = false,
            ContinuationTimeout = Patience,
            RequestedHeartbeat = heartbeat ?? TimeSpan.FromSeconds(10),
            MaxInboundMessageBodySize = MaxMessageBytes,
        };
        Prepare(factory, ToRotation());
        return factory;
    }

    /// <summary>The nodes, for all attempts of one connection.</summary>
    public NodeRotation ToRotation() => new(Nodes, node => IsTls ? (Tls ?? BrokerTls.OfSystem).ToOptions(node.Host) : null);

    /// <summary>What our own connections and those of the bus have in common below AMQP.</summary>
    public void Prepare(ConnectionFactory factory, NodeRotation nodes)
    {
        factory.SocketFactory = nodes.CreateSocket;
        factory.Ssl = new SslOption { Enabled = IsTls }; // only tells: the sockets make TLS themselves, and the nodes have none of their own
        factory.EndpointResolverFactory = _ => nodes;
        factory.RequestedConnectionTimeout = ConnectTimeout;
        factory.HandshakeContinuationTimeout = ConnectTimeout;
    }

    // One that has no nodes is no address either, and is found out as such.
    [GeneratedRegex("^(?<before>[^:/]*:/?/?(?:[^/]*@)?)(?<nodes>[^/?#]*[^:/?#])(?<after>(?:[/?#].*)?)$", RegexOptions.Singleline)]
    private static partial Regex Parts();
}
