using System.Text.Json;
using Esb.Core.Brokers;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Endpoints.Brokers;

namespace Esb.Endpoints.Amqp;

/// <summary>Answers one request of an AMQP client, in the queue that it names.</summary>
/// <remarks>An answer goes only to queues on the allow-list, and never to one of the bus: otherwise a sender could have the bus write
/// anywhere.</remarks>
internal sealed class AmqpAnswerWay(
    AmqpInboundConfig config,
    BrokerMessage request,
    EsbMessage message,
    long maxBodyBytes,
    Func<string, bool> isOurs,
    TimeProvider time
) : IAnswerWay
{
    private const string Problem = "application/problem+json";

    private readonly HeaderRules _rules = new(config.Headers);

    public ValueTask CheckAsync(CancellationToken cancellationToken)
    {
        var queue = request.ReplyTo!;
        if (isOurs(queue) || !config.ReplyTo.Any(pattern => Matches(pattern, queue)))
            throw new EsbException(
                "ESB-AMQP-REPLYTO",
                "The queue for the answer is not among those that replyTo allows; the request was not worked on.",
                FaultKind.Invalid
            );
        return ValueTask.CompletedTask;
    }

    public async ValueTask<BrokerMessage> AnswerAsync(EsbMessage reply, CancellationToken cancellationToken) =>
        Create(
            reply.Id,
            await reply.Body.BufferAsync(maxBodyBytes, cancellationToken),
            reply.ContentType,
            _rules.Admit(reply.Headers, out _).ToDictionary()
        );

    public BrokerMessage Fault(EsbException failure)
    {
        var body = JsonSerializer.SerializeToUtf8Bytes(
            new
            {
                title = failure.Message,
                status = failure.Status ?? Faults.StatusOf(failure.Kind),
                code = failure.Code,
            }
        );
        return Create(
            MessageIds.Derive(message.Id, "fault"),
            body,
            Problem,
            new Dictionary<string, string> { [EsbHeaders.Fault] = failure.Code }
        );
    }

    private BrokerMessage Create(Guid id, ReadOnlyMemory<byte> body, string? contentType, IReadOnlyDictionary<string, string> headers) =>
        new()
        {
            RoutingKey = request.ReplyTo!,
            Body = body,
            ContentType = contentType,
            MessageId = id.ToString(),
            CorrelationId = request.CorrelationId ?? request.MessageId, // as RPC clients expect
            Timestamp = time.GetUtcNow(),
            Headers = headers,
            IsMandatory = true,
            IsPersistent = false,
        };

    // Names of queues are compared with regard to case.
    private static bool Matches(string pattern, string queue) =>
        pattern.EndsWith('*') ? queue.StartsWith(pattern[..^1], StringComparison.Ordinal) : queue == pattern;
}
