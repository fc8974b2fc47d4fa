using System.Globalization;
using System.Text;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq.Wire;

/// <summary>Reads the headers of a message, whatever their content from a foreign client.</summary>
internal static class HeaderTable
{
    /// <summary>Returns a header as text; null if it is missing or not text: tables and lists.</summary>
    public static string? Text(this IDictionary<string, object?>? headers, string name) =>
        headers is not null && headers.TryGetValue(name, out var value) ? TextOf(value) : null;

    /// <summary>Returns a header as a whole number.</summary>
    public static int? Number(this IDictionary<string, object?>? headers, string name) =>
        int.TryParse(headers.Text(name), NumberStyles.None, CultureInfo.InvariantCulture, out var number) ? number : null;

    /// <summary>Returns a header as a time.</summary>
    public static DateTimeOffset? Time(this IDictionary<string, object?>? headers, string name) =>
        DateTimeOffset.TryParse(headers.Text(name), CultureInfo.InvariantCulture, DateTimeStyles.RoundtripKind, out var time) ? time : null;

    /// <summary>Returns the last move of the message by the broker itself; null if there was none.</summary>
    public static BrokerDeath? LastDeath(this IDictionary<string, object?>? headers)
    {
        if (headers is null || !headers.TryGetValue(WireHeaders.Deaths, out var value) || value is not IList<object?> { Count: > 0 } deaths)
            return null;
        if (deaths[0] is not IDictionary<string, object?> last)
            return null;
        var routingKeys =
            last.TryGetValue("routing-keys", out var keys) && keys is IList<object?> { Count: > 0 } list ? TextOf(list[0]) : null;
        return new BrokerDeath(last.Text("queue") ?? "", last.Text("reason") ?? "", routingKeys ?? "");
    }

    public static string? TextOf(object? value) =>
        value switch
        {
            string text => text,
            byte[] bytes => Encoding.UTF8.GetString(bytes),
            bool flag => flag ? "true" : "false",
            AmqpTimestamp time => TimeOf(time)?.ToString("O", CultureInfo.InvariantCulture),
            IConvertible number => number.ToString(CultureInfo.InvariantCulture),
            _ => null,
        };

    /// <summary>True if a value contains bytes, such as a value that was nested too deep: see <see cref="HeaderDepthLimiter"/>.</summary>
    public static bool HoldsBytes(object? value) =>
        value switch
        {
            BinaryTableValue => true,
            IDictionary<string, object?> table => table.Values.Any(HoldsBytes),
            IList<object?> list => list.Any(HoldsBytes),
            _ => false,
        };

    /// <summary>Converts a time on the wire, in seconds; null if it is beyond the calendar.</summary>
    public static DateTimeOffset? TimeOf(AmqpTimestamp time) =>
        time.UnixTime is >= 0 and < 253402300800 ? DateTimeOffset.FromUnixTimeSeconds(time.UnixTime) : null;
}

/// <summary>A move of a message by the broker itself.</summary>
/// <param name="Queue">The queue it was moved from.</param>
/// <param name="Reason"><c>expired</c>, <c>maxlen</c>, <c>delivery_limit</c> or <c>rejected</c>.</param>
/// <param name="RoutingKey">The routing key of its publish.</param>
internal sealed record BrokerDeath(string Queue, string Reason, string RoutingKey);
