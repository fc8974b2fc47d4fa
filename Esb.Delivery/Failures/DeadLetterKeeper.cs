using Esb.Core;
using Esb.Core.Alerts;
using Esb.Core.Audit;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Delivery.Outbound;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Failures;

/// <summary>Moves dead letters from the transport's hand-off into the store, where they can be listed. A letter that cannot be stored stays
/// with the transport. Only stored letters are recorded and counted. Thread-safe.</summary>
internal sealed partial class DeadLetterKeeper(
    ITopicTransport transport,
    IDeadLetterStore store,
    IAuditTrail audit,
    TimeProvider time,
    ILogger<DeadLetterKeeper> logger,
    IAlerts? alerts = null
) : IBusPart, IDeadLetterChannel
{
    private ITopicReader? _reader;

    public BusStage Stage => BusStage.Outbound;

    public async Task StartAsync(CancellationToken cancellationToken) =>
        _reader = await transport.ReadDeadLettersAsync(KeepAsync, cancellationToken);

    /// <summary>Keeps a dead letter; durable and recorded when it returns.</summary>
    /// <exception cref="Core.Errors.EsbException">The letter could not be stored or recorded. Storing it again is safe.</exception>
    public async ValueTask KeepAsync(DeadLetter letter, CancellationToken cancellationToken)
    {
        MaskedFlow.Follow(audit.Mask, letter.Message);
        await store.AddAsync(letter, cancellationToken);
        await audit.RecordAsync(
            AuditFacts.Of(letter.Message, AuditKind.DeadLettered, time) with
            {
                Endpoint = letter.Endpoint,
                Attempt = letter.Attempts,
                Code = letter.Code,
                Reason = letter.Reason,
            },
            cancellationToken
        );
        LogDeadLettered(letter.Message.Id, letter.Endpoint, letter.Attempts, letter.Code, letter.Reason);
        alerts?.Raise(new Alert(AlertKinds.DeadLetter, letter.Endpoint, letter.Code, MaskedFlow.Clean(letter.Reason), letter.Message.Id));
        DeliveryTelemetry.CountDeadLetter(letter.Endpoint, letter.Message, letter.Code);
    }

    public async Task StopAsync(CancellationToken cancellationToken)
    {
        if (_reader is not null)
            await _reader.DisposeAsync();
    }

    [LoggerMessage(
        EventId = 2402,
        Level = LogLevel.Error,
        Message = "Message {MessageId} was given up by {Endpoint} after {Attempts} attempts and kept as a dead letter: {Code}: {Reason}"
    )]
    private partial void LogDeadLettered(Guid messageId, string endpoint, int attempts, string code, string reason);
}
