using Esb.Core.Brokers;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Endpoints.Brokers;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.MassTransit;

/// <summary>Outbound endpoint that publishes or sends messages to MassTransit applications, and awaits their answers if
/// configured.</summary>
/// <remarks>At least once: a message that is sent again has the same id, by which MassTransit's inbox recognises it.</remarks>
internal sealed partial class MassTransitOutboundEndpoint(
    MassTransitOutboundConfig config,
    OutboundWriter writer,
    IBrokerPublisher publisher,
    RequestReplies? replies,
    TimeProvider time,
    ILogger<MassTransitOutboundEndpoint> logger
) : IOutboundEndpoint
{
    public async ValueTask<EsbMessage?> SendAsync(EsbMessage message, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        return replies is null ? await PublishAsync(message, cancellationToken) : await RequestAsync(replies, message, cancellationToken);
    }

    private async Task<EsbMessage?> PublishAsync(EsbMessage message, CancellationToken cancellationToken)
    {
        var written = await writer.WriteAsync(message, requestId: null, cancellationToken);
        await PublishAsync(written);
        LogSent(message.Id, config.Name, written.Exchange.Length > 0 ? written.Exchange : written.RoutingKey);
        return null; // a message that is published has no answer
    }

    private async Task<EsbMessage> RequestAsync(RequestReplies waiting, EsbMessage message, CancellationToken cancellationToken)
    {
        await waiting.OpenAsync(cancellationToken);
        var requestId = Guid.CreateVersion7(time.GetUtcNow());
        var written = await writer.WriteAsync(message, requestId, cancellationToken);
        using var pending = waiting.Expect(requestId);
        await PublishAsync(written);
        return ReplyReader.Read(config, message, await pending.Answer.WaitAsync(cancellationToken));
    }

    private async Task PublishAsync(BrokerMessage written)
    {
        if (BrokerFailures.Of(config.Name, await publisher.PublishAsync(written)) is { } failure)
            throw failure;
    }

    [LoggerMessage(EventId = 2305, Level = LogLevel.Debug, Message = "Message {MessageId} sent by {Endpoint} to {Target}")]
    private partial void LogSent(Guid messageId, string endpoint, string target);
}
