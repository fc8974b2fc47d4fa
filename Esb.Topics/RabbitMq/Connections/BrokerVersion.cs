using Esb.Topics.RabbitMq.Wire;
using Microsoft.Extensions.Logging;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq.Connections;

/// <summary>Checks the version that the broker reports when a connection is opened.</summary>
internal static partial class BrokerVersion
{
    private static readonly Version Oldest = new(3, 10);

    /// <exception cref="BrokerRefusedException"><c>ESB-CFG-BROKERVERSION</c>: the broker is older than 3.10, where quorum queues lose
    /// messages that they move, or its version is unknown.</exception>
    public static void Check(IConnection connection, ILogger logger)
    {
        var product = connection.ServerProperties.Text("product");
        var version = connection.ServerProperties.Text("version");
        if (!IsSupported(version))
            throw new BrokerRefusedException(
                $"ESB-CFG-BROKERVERSION: the broker is {product ?? "of unknown make"} {version ?? "of unknown version"}; RabbitMQ "
                    + $"{Oldest} or later is needed"
            );
        LogVersion(logger, product, version);
    }

    /// <summary>True if a version, such as <c>3.10.8</c> or <c>4.1.0-rc.1</c>, is supported.</summary>
    public static bool IsSupported(string? version) => Version.TryParse(version?.Split('-', '+')[0], out var found) && found >= Oldest;

    [LoggerMessage(EventId = 1552, Level = LogLevel.Information, Message = "The broker is {Product} {Version}")]
    private static partial void LogVersion(ILogger logger, string? product, string? version);
}
