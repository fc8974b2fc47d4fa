using System.Text;
using Esb.Core.Brokers;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;

namespace Esb.Endpoints.Amqp;

/// <summary>Names and addresses that both directions share.</summary>
internal static class AmqpAddress
{
    /// <summary>The beginning of the address of a queue.</summary>
    public const string Queue = "queue:";

    private const int MaxNameBytes = 255; // AMQP 0-9-1: a short string

    /// <summary>The address of a queue or an exchange for the detection of loops; null if the settings could not be read.</summary>
    public static string? Of(SettingsRecord settings, IBrokerSettings broker, string? queue, string? exchange)
    {
        if (!settings.IsSound("url", "exchange") || (queue is null && exchange is null))
            return null;
        var place =
            broker.Url is { } url && Uri.TryCreate(url, UriKind.Absolute, out var uri)
                ? $"{uri.Host}:{uri.Port}{uri.AbsolutePath.TrimEnd('/')}/"
                : "";
        return queue is not null ? $"{place}{Queue}{queue}" : $"{place}{exchange}";
    }

    public static IEnumerable<(string Setting, string Name)> NamesOf(string? queue, string? exchange, string queueSetting = "queue")
    {
        if (queue is not null)
            yield return (queueSetting, queue);
        if (exchange is not null)
            yield return ("exchange", exchange);
    }

    /// <summary>Checks what both directions share.</summary>
    public static void Check(
        SettingsRecord settings,
        AmqpProtocol protocol,
        IEnumerable<(string Setting, string Name)> names,
        ConfigErrors errors
    )
    {
        if (!protocol.IsSpoken)
            errors.Add(
                "ESB-CFG-UNAVAILABLE",
                settings,
                "protocol",
                "this version of the protocol is designed, and not here yet: expected \"0-9-1\""
            );
        foreach (var (setting, _) in names.Where(named => named.Name.Length == 0 || Encoding.UTF8.GetByteCount(named.Name) > MaxNameBytes))
            errors.Add("ESB-CFG-VALUE", settings, setting, $"expected a name of 1..{MaxNameBytes} bytes");
    }

    /// <summary>True if a routing key is short enough for the protocol.</summary>
    public static bool IsRoutingKey(string text) => Encoding.UTF8.GetByteCount(text) <= MaxNameBytes;
}
