using System.Diagnostics;
using Esb.Core.Brokers;
using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Endpoints.Brokers;

/// <summary>A delivery as a message of the bus.</summary>
/// <param name="Message">The message; of a refused delivery, what is known of it, with the bytes as they came.</param>
internal sealed record IncomingDelivery(EsbMessage Message)
{
    /// <summary>The reason why it can never become a message; null if it can.</summary>
    public EsbException? Refusal { get; init; }

    /// <summary>The trace that it belongs to.</summary>
    public ActivityContext Parent { get; init; }

    /// <summary>The way back to a sender that waits for an answer; null if none waits.</summary>
    public IAnswerWay? AnswerWay { get; init; }
}

/// <summary>Reads deliveries of one format. Thread-safe.</summary>
internal interface IDeliveryFormat
{
    /// <summary>Reads a delivery; reports what is wrong with it as <see cref="IncomingDelivery.Refusal"/>, and throws nothing.</summary>
    IncomingDelivery Read(BrokerMessage delivery);
}

/// <summary>Answers the sender of one delivery.</summary>
internal interface IAnswerWay
{
    /// <summary>Checks whether an answer may be sent where the sender wants it, before any work is done.</summary>
    /// <exception cref="EsbException">It may not; or, transient, this cannot be told now.</exception>
    ValueTask CheckAsync(CancellationToken cancellationToken);

    /// <summary>Creates the answer.</summary>
    /// <exception cref="EsbException">The reply does not fit the format.</exception>
    ValueTask<BrokerMessage> AnswerAsync(EsbMessage reply, CancellationToken cancellationToken);

    /// <summary>Creates the answer that reports a failure.</summary>
    BrokerMessage Fault(EsbException failure);
}
