using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Core.Certificates;
using Esb.Core.Configuration;
using Esb.Core.Topics;
using Esb.Topics.RabbitMq.Connections;

namespace Esb.Topics.RabbitMq;

/// <summary>Refuses invalid addresses, names that the broker would not accept, the well-known default credentials, and certificates that
/// prove nothing.</summary>
internal sealed class RabbitMqTransportRule(TransportConfig configured, TimeProvider time) : IConfigurationRule
{
    private const int MaxPrefixLength = 50; // names on the broker have at most 255 bytes

    private static readonly string Prefixes = $"expected 1..{MaxPrefixLength} letters, digits, \"-\", \"_\" or \".\"";

    public void Check(ConfigErrors errors)
    {
        if (configured is not RabbitMqTransportConfig transport)
            return;
        if (RabbitMqAddress.Parse(transport.Url) is { } address)
            CheckAddress(transport, address, errors);
        else
            errors.Add(
                "ESB-CFG-URL",
                transport,
                "url",
                "expected an address such as \"amqps://user:${env:PASSWORD}@broker:5671/virtual-host\""
            );
        if (!IsPrefix(transport.Prefix))
            errors.Add("ESB-CFG-NAME", transport, "prefix", Prefixes);
        if (transport.Tls is { } tls)
            errors.CheckFiles(tls, time.GetUtcNow());
    }

    private static void CheckAddress(RabbitMqTransportConfig transport, RabbitMqAddress address, ConfigErrors errors)
    {
        if (address is { HasDefaultCredentials: true, IsLoopback: false })
            errors.Add(
                "ESB-CFG-DEFAULTCRED",
                transport,
                "url",
                "guest is for a broker on this machine only; give this host an account of its own"
            );
        if (address is { IsTls: false, IsLoopback: false })
            errors.RefuseInsecure(transport, "url", transport.AllowInsecure, "amqps://");
        if (!address.IsTls && transport.Tls is not null)
            errors.Add("ESB-CFG-URL", transport, "url", "expected amqps://, as \"tls\" is given");
    }

    private static bool IsPrefix(string prefix) =>
        prefix.Length is > 0 and <= MaxPrefixLength && prefix.All(c => char.IsAsciiLetterOrDigit(c) || c is '-' or '_' or '.');
}
