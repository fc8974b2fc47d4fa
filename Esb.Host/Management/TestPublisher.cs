using Esb.Configuration;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Topics;

namespace Esb.Host.Management;

/// <summary>Publishes messages of a test client, once or repeatedly.</summary>
internal sealed class TestPublisher(LimitsConfig limits, IServiceProvider bus)
{
    private const string Source = "management";

    private static readonly HeaderRules Headers = new(HeaderRules.DefaultPatterns);

    private readonly ITopicPublisher _publisher = bus.GetRequiredService<ITopicPublisher>();
    private readonly long _maxBodyBytes = limits.MaxBodySize.Bytes;
    private readonly TimeProvider _time = bus.GetRequiredService<TimeProvider>();

    /// <summary>Publishes the body of a request; each message has an id of its own. On return all messages are confirmed.</summary>
    public async Task<IResult> PublishAsync(Subject subject, HttpRequest request, int count, CancellationToken cancellationToken)
    {
        if (request.ContentLength > _maxBodyBytes) // before any of the body is read
            throw new EsbException(
                "ESB-BODY-SIZE",
                $"The body is larger than {_maxBodyBytes} bytes, the limits.maxBodySize of the host.",
                FaultKind.TooLarge
            );
        if (request.ContentType is { } type && !HeaderRules.IsValue(type))
            throw new EsbException("ESB-HDR-VALUE", "The content type has control characters.", FaultKind.Malformed);
        var body = MessageBody.FromStream(request.Body, request.ContentLength);
        await body.BufferAsync(_maxBodyBytes, cancellationToken);
        var headers = Headers.Admit(HeadersOf(request), out _);
        var messages = Enumerable
            .Range(0, count)
            .Select(_ => EsbMessage.Create(body, _time) with { ContentType = request.ContentType, Headers = headers })
            .ToList();

        await Task.WhenAll(
            messages.Select(message =>
                _publisher.PublishAsync(new MessageContext(message, Source), subject, Source, cancellationToken).AsTask()
            )
        );

        var durable = bus.GetRequiredService<ITopicTransport>().IsDurable;
        return TypedResults.Json(new SendReceipt(messages[0].Id, count, durable), statusCode: StatusCodes.Status202Accepted);
    }

    // The key is for this API only and must not travel with the message. Headers named in Connection are removed as well (RFC 9110, section
    // 7.6.1).
    private static IEnumerable<KeyValuePair<string, string>> HeadersOf(HttpRequest request)
    {
        var ending = request
            .Headers.GetCommaSeparatedValues("Connection")
            .Append(ManagementPipeline.KeyHeader)
            .ToHashSet(StringComparer.OrdinalIgnoreCase);
        return request
            .Headers.Where(header => !ending.Contains(header.Key))
            .Select(header => KeyValuePair.Create(header.Key, header.Value.ToString()));
    }
}

/// <summary>The response to a test client.</summary>
/// <param name="MessageId">The id of the first message.</param>
/// <param name="Count">The number of published messages.</param>
/// <param name="Durable">True if they survive the end of the host.</param>
internal sealed record SendReceipt(Guid MessageId, int Count, bool Durable);
