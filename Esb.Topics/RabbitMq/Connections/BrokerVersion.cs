using Esb.Topics.RabbitMq.Wire;
using Microsoft.Extensions.Logging;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq.Connections;

/// <summary>Looks at what the broker says of itself when a connection is opened.</summary>
internal static partial class BrokerVersion
{
    private static readonly Version Oldest = new(3, 10);

    /// <exception cref="BrokerRefusedException"><c>ESB-CFG-BROKERVERSION</c>: older than 3.10, where quorum queues lose what they move, or of no known version.</exception>
    public static void Check(IConnection connection, ILogger logger)
    {
        var product = connection.ServerProperties.Text("product");
        var version = connection.ServerProperties.Text("version");
        if (!IsSupported(version)) throw new BrokerRefusedException($"ESB-CFG-BROKERVERSION: the broker is {product ?? "of unknown make"} {version ?? "of unknown version"}; RabbitMQ {Oldest} or later is needed");
        LogVersion(logger, product, version);
    }

    /// <summary>Whether a version, such as <c>3.10.8</c> or <c>4.1.0-rc.1</c>, is one that we work on.</summary>
    public static bool IsSupported(string? version) => Version.TryParse(version?.Split('-', '+')[0], out var found) && found >= Oldest;

    [LoggerMessage(EventId = 1552, Level = LogLevel.Information, Message = "The broker is {Product} {Version}")]
    private static partial void LogVersion(ILogger logger, string? product, string? version);
}
