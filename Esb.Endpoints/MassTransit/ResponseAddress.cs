namespace Esb.Endpoints.MassTransit;

/// <summary>The address that a MassTransit application wants an answer at.</summary>
/// <param name="Exchange">The exchange.</param>
/// <param name="VirtualHost">The virtual host; null if the address names none, which is that of the request.</param>
internal sealed record ResponseAddress(string Exchange, string? VirtualHost)
{
    /// <summary>Parses an address; null if it is not one of a RabbitMQ broker.</summary>
    /// <remarks>The host is not compared: applications reach one broker under several names. An answer is sent over the connection that the
    /// request came from, and never to another broker.</remarks>
    public static ResponseAddress? Parse(string text)
    {
        if (!Uri.TryCreate(text, UriKind.Absolute, out var uri))
            return null;
        if (uri.Scheme is "exchange" or "queue")
            return Named(Uri.UnescapeDataString(uri.AbsolutePath), virtualHost: null);
        if (uri.Scheme is not ("rabbitmq" or "rabbitmqs" or "amqp" or "amqps"))
            return null;
        return uri.AbsolutePath.Split('/', StringSplitOptions.RemoveEmptyEntries) switch
        {
            [var name] => Named(Uri.UnescapeDataString(name), "/"),
            [var virtualHost, var name] => Named(Uri.UnescapeDataString(name), Uri.UnescapeDataString(virtualHost)),
            _ => null,
        };
    }

    private static ResponseAddress? Named(string exchange, string? virtualHost) =>
        MassTransitNames.IsEntity(exchange) ? new ResponseAddress(exchange, virtualHost) : null;
}
