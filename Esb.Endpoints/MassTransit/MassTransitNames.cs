using System.Text;
using Esb.Core.Brokers;
using Esb.Core.Configuration.Settings;

namespace Esb.Endpoints.MassTransit;

/// <summary>Names of exchanges and queues, and the addresses under which MassTransit knows them.</summary>
internal static class MassTransitNames
{
    private const int MaxNameBytes = 255; // AMQP 0-9-1: a short string
    private const int DefaultPort = 5672;
    private const int DefaultTlsPort = 5671;

    /// <summary>True if the broker and MassTransit accept a name.</summary>
    public static bool IsEntity(string name) =>
        name.Length > 0
        && Encoding.UTF8.GetByteCount(name) <= MaxNameBytes
        && name.All(c => char.IsLetterOrDigit(c) || c is '-' or '_' or '.' or ':');

    /// <summary>The exchange of a message type.</summary>
    public static string ExchangeOf(MessageTypeName type, IReadOnlyDictionary<string, string> entityNames) =>
        entityNames.GetValueOrDefault(type.Value) ?? type.Exchange;

    /// <summary>The address of an exchange, as MassTransit writes it.</summary>
    /// <param name="place">The broker.</param>
    /// <param name="exchange">The exchange.</param>
    /// <param name="isTemporary">True if the exchange is neither durable nor kept.</param>
    public static string AddressOf(BrokerPlace place, string exchange, bool isTemporary = false)
    {
        var port = place.Port == (place.IsTls ? DefaultTlsPort : DefaultPort) ? "" : $":{place.Port}";
        var host = place.VirtualHost == "/" ? "" : $"/{Uri.EscapeDataString(place.VirtualHost)}";
        var name = Uri.EscapeDataString(exchange).Replace("%3A", ":", StringComparison.Ordinal);
        return $"{(place.IsTls ? "rabbitmqs" : "rabbitmq")}://{place.Host}{port}{host}/{name}{(isTemporary ? "?temporary=true" : "")}";
    }

    /// <summary>The address of an endpoint for the detection of loops; null if its settings could not be read.</summary>
    public static string? AddressOf(
        SettingsRecord settings,
        IBrokerSettings broker,
        IReadOnlyList<MessageTypeName> types,
        IReadOnlyDictionary<string, string> entityNames
    ) =>
        settings.IsSound("messageType") && settings.IsSound("url") && types.Count > 0
            ? $"{PlaceOf(broker)}{ExchangeOf(types[0], entityNames)}"
            : null;

    /// <summary>The broker of an endpoint, without credentials; empty for that of the topics.</summary>
    public static string PlaceOf(IBrokerSettings broker) =>
        broker.Url is { } url && Uri.TryCreate(url, UriKind.Absolute, out var uri)
            ? $"{uri.Host}:{uri.Port}{uri.AbsolutePath.TrimEnd('/')}/"
            : "";
}
