using System.Text.RegularExpressions;
using Esb.Topics.RabbitMq.Tls;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq.Connections;

/// <summary>The broker's address, parsed from a URL as https://www.rabbitmq.com/docs/uri-spec describes it. The nodes of a cluster are
/// separated by commas.</summary>
internal sealed partial record RabbitMqAddress(
    IReadOnlyList<BrokerNode> Nodes,
    string VirtualHost,
    string User,
    string Password,
    bool IsTls
)
{
    // Not the client's default of 64 MiB: a larger message would cost the connection at every delivery. The broker has its own limit.
    public const uint MaxMessageBytes = 512 * 1024 * 1024;

    private const string DefaultUser = "guest";

    /// <summary>Stands for an invalid address: the configuration is refused before any connection is opened.</summary>
    public static readonly RabbitMqAddress None = new([new BrokerNode("", 0)], "/", "", "", IsTls: false);

    /// <summary>The time-out for a response of the broker.</summary>
    public static readonly TimeSpan Patience = TimeSpan.FromSeconds(10);

    private static readonly TimeSpan PatienceInCluster = TimeSpan.FromSeconds(5); // another node is the faster way

    /// <summary>The TLS settings; null for the authorities of the system.</summary>
    public BrokerTls? Tls { get; init; }

    public bool HasDefaultCredentials => User == DefaultUser && Password == DefaultUser;

    public bool IsLoopback => Nodes.All(node => node.IsLoopback);

    /// <summary>The time-out for a response of a node while a connection is opened.</summary>
    public TimeSpan ConnectTimeout => Nodes.Count > 1 ? PatienceInCluster : Patience;

    /// <summary>Parses a URL; null if it is not the URL of a broker.</summary>
    public static RabbitMqAddress? Parse(string url)
    {
        var parts = Parts().Match(url);
        var addresses = parts
            .Groups["nodes"]
            .Value.Split(',')
            .Select(node => ParseSingle($"{parts.Groups["before"]}{node}{parts.Groups["after"]}"))
            .ToList();
        return addresses.Any(address => address is null)
            ? null
            : addresses[0]! with
            {
                Nodes = [.. addresses.SelectMany(address => address!.Nodes).Distinct()],
            };
    }

    private static RabbitMqAddress? ParseSingle(string url)
    {
        if (!Uri.TryCreate(url, UriKind.Absolute, out var uri) || uri.Scheme is not ("amqp" or "amqps") || uri.Host.Length == 0)
            return null;
        if (uri.Query.Length > 0 || uri.Fragment.Length > 0)
            return null;
        var credentials = uri.UserInfo.Split(':', 2);
        var isTls = uri.Scheme == "amqps";
        return new RabbitMqAddress(
            [
                new BrokerNode(
                    uri.IdnHost,
                    uri.IsDefaultPort || uri.Port < 0
                        ? isTls
                            ? 5671
                            : 5672
                        : uri.Port
                ),
            ],
            uri.AbsolutePath.Length <= 1 ? "/" : Uri.UnescapeDataString(uri.AbsolutePath[1..]),
            credentials[0].Length == 0 ? DefaultUser : Uri.UnescapeDataString(credentials[0]),
            credentials.Length < 2 ? DefaultUser : Uri.UnescapeDataString(credentials[1]),
            isTls
        );
    }

    /// <summary>Returns the address in a valid configuration.</summary>
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
            AutomaticRecoveryEnabled = false, // done here: the client's recovery loses in-flight messages
            TopologyRecoveryEnabled = false,
            ContinuationTimeout = Patience,
            RequestedHeartbeat = heartbeat ?? TimeSpan.FromSeconds(10),
            MaxInboundMessageBodySize = MaxMessageBytes,
        };
        Prepare(factory, ToRotation());
        return factory;
    }

    /// <summary>Returns the nodes for all attempts of one connection.</summary>
    public NodeRotation ToRotation() => new(Nodes, node => IsTls ? (Tls ?? BrokerTls.OfSystem).ToOptions(node.Host) : null);

    /// <summary>Applies the settings below AMQP that our own connections and those of the bus share.</summary>
    public void Prepare(ConnectionFactory factory, NodeRotation nodes)
    {
        factory.SocketFactory = nodes.CreateSocket;
        factory.Ssl = new SslOption { Enabled = IsTls }; // informative: the sockets establish TLS, and the nodes have no options
        factory.EndpointResolverFactory = _ => nodes;
        factory.RequestedConnectionTimeout = ConnectTimeout;
        factory.HandshakeContinuationTimeout = ConnectTimeout;
    }

    // A URL without nodes does not match either, and is reported as invalid.
    [GeneratedRegex("^(?<before>[^:/]*:/?/?(?:[^/]*@)?)(?<nodes>[^/?#]*[^:/?#])(?<after>(?:[/?#].*)?)$", RegexOptions.Singleline)]
    private static partial Regex Parts();
}
