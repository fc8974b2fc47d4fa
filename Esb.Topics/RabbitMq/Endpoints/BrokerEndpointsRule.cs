using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Core.Brokers;
using Esb.Core.Certificates;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;
using Esb.Core.Topics;
using Esb.Topics.RabbitMq.Connections;

namespace Esb.Topics.RabbitMq.Endpoints;

/// <summary>Checks the brokers of endpoints: that there is one, that its address is secure, and that no exchange or queue of the bus itself
/// is named.</summary>
internal sealed class BrokerEndpointsRule(
    IReadOnlyDictionary<string, EndpointConfig> endpoints,
    TransportConfig transport,
    TimeProvider time
) : IConfigurationRule
{
    private readonly ReservedNames _reserved = ReservedNames.Of(transport);

    public void Check(ConfigErrors errors)
    {
        foreach (var settings in endpoints.Values)
        {
            if (settings is IBrokerSettings broker)
                Check(settings, broker, errors);
        }
    }

    private void Check(SettingsRecord settings, IBrokerSettings broker, ConfigErrors errors)
    {
        if (broker.Url is { } url)
            CheckAddress(settings, broker, url, errors);
        else
            CheckDefault(settings, broker, errors);
        if (broker.Tls is { } tls)
            errors.CheckFiles(tls, time.GetUtcNow());
        foreach (var (setting, name) in broker.BrokerNames.Where(named => _reserved.Contains(named.Name)))
            errors.Add(
                "ESB-CFG-NAME",
                settings,
                setting,
                $"'{Clipped.To(60, name)}' belongs to the bus itself: expected another exchange or queue"
            );
    }

    private static void CheckAddress(SettingsRecord settings, IBrokerSettings broker, string url, ConfigErrors errors)
    {
        if (RabbitMqAddress.Parse(url) is not { } address)
        {
            errors.Add(
                "ESB-CFG-URL",
                settings,
                "url",
                "expected an address such as \"amqps://user:${env:PASSWORD}@broker:5671/virtual-host\""
            );
            return;
        }

        if (address is { HasDefaultCredentials: true, IsLoopback: false })
            errors.Add(
                "ESB-CFG-DEFAULTCRED",
                settings,
                "url",
                "guest is for a broker on this machine only; give the endpoint an account of its own"
            );
        if (address is { IsTls: false, IsLoopback: false })
            errors.RefuseInsecure(settings, "url", broker.AllowInsecure, "amqps://");
        if (!address.IsTls && broker.Tls is not null)
            errors.Add("ESB-CFG-URL", settings, "url", "expected amqps://, as \"tls\" is given");
    }

    private void CheckDefault(SettingsRecord settings, IBrokerSettings broker, ConfigErrors errors)
    {
        if (!settings.IsSound("url"))
            return;
        if (transport is not RabbitMqTransportConfig)
            errors.Add(
                "ESB-CFG-BROKER",
                settings,
                "url",
                "the topics have no broker that the endpoint could use: expected the address of one, such as \"amqp://127.0.0.1\", "
                    + "or transport.type rabbitmq"
            );
        else if (broker.Tls is not null)
            errors.Add("ESB-CFG-VALUE", settings, "tls", "expected url, as the broker of the topics has its own tls");
    }
}
