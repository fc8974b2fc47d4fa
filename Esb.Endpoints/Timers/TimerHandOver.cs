using System.Globalization;
using Esb.Core.Endpoints;
using Esb.Core.Messages;
using Esb.Delivery.Polling;

namespace Esb.Endpoints.Timers;

/// <summary>Creates the message of a tick and hands it to the bus. Thread-safe.</summary>
internal sealed class TimerHandOver(TimerInboundConfig config, TimerBody body, IMessageIntake intake, TimeProvider time)
    : PolledHandOver<TimerTick>(intake)
{
    /// <summary>The property with the due time of the tick, in UTC.</summary>
    public const string DueProperty = "timer.due";

    protected override EsbMessage Envelope(TimerTick item)
    {
        var due = item.Due.UtcDateTime.ToString("yyyy-MM-dd'T'HH:mm:ss'Z'", CultureInfo.InvariantCulture);
        var message = EsbMessage.Create(MessageBody.Empty, time) with
        {
            Id = item.MessageId,
            ConversationId = item.MessageId,
            Properties = new Dictionary<string, object> { [DueProperty] = due },
        };
        return body.AddTo(message, config.Name);
    }

    protected override Task<MessageBody> ReadAsync(TimerTick item, CancellationToken cancellationToken) =>
        Task.FromResult(Envelope(item).Body);
}
