using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Topics;

namespace Esb.Topics.RabbitMq;

/// <summary>Refuses an address that is none, names that the broker would not take, and the credentials that everybody knows.</summary>
internal sealed class RabbitMqTransportCheck(EsbConfiguration configuration) : IConfigurationCheck
{
    private const int MaxPrefixLength = 50; // names on the broker have 255 bytes

    private static readonly string Prefixes = $"expected 1..{MaxPrefixLength} letters, digits, \"-\", \"_\" or \".\"";

    public void Check(ConfigErrors errors)
    {
        if (configuration.Section<TransportConfig>("transport") is not RabbitMqTransportConfig transport) return;
        if (RabbitMqAddress.Parse(transport.Url) is not { } address)
            errors.Add("ESB-CFG-URL", transport, "url", "expected an address such as \"amqp://user:${env:PASSWORD}@broker:5672/virtual-host\"");
        else if (address is { HasDefaultCredentials: true, IsLoopback: false })
            errors.Add("ESB-CFG-DEFAULTCRED", transport, "url", "guest is for a broker on this machine only; give this host an account of its own");
        if (!IsPrefix(transport.Prefix))
            errors.Add("ESB-CFG-NAME", transport, "prefix", Prefixes);
    }

    private static bool IsPrefix(string prefix) => prefix.Length is > 0 and <= MaxPrefixLength && prefix.All(c => char.IsAsciiLetterOrDigit(c) || c is '-' or '_' or '.');
}
