using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Processes;
using Esb.Core.Topics;

namespace Esb.Core.Parties;

/// <summary>Publishes on behalf of a party only under subjects permitted to it. Messages without a party, or of parties that the
/// configuration does not know, pass.</summary>
/// <remarks>The party is the sender of the received message, even after the answer of a call has become the message. Thread-safe.</remarks>
public sealed class PartyPublisher(ITopicPublisher inner, Live<PartyDirectory> parties) : ITopicPublisher
{
    /// <inheritdoc/>
    /// <exception cref="EsbException">Also <c>ESB-PARTY-SUBJECT</c>: the party may not publish under the subject.</exception>
    public ValueTask PublishAsync(MessageContext context, Subject subject, string step, CancellationToken cancellationToken)
    {
        Require(context, subject);
        return inner.PublishAsync(context, subject, step, cancellationToken);
    }

    /// <inheritdoc/>
    /// <exception cref="EsbException">Also <c>ESB-PARTY-SUBJECT</c>: the party may not publish under the subject.</exception>
    public ValueTask RequestAsync(
        MessageContext context,
        Subject subject,
        TimeSpan timeout,
        string step,
        CancellationToken cancellationToken
    )
    {
        Require(context, subject);
        return inner.RequestAsync(context, subject, timeout, step, cancellationToken);
    }

    /// <inheritdoc/>
    /// <remarks>A copy belongs to the operator, regardless of the party's permissions: it is made for observers.</remarks>
    public ValueTask<OutgoingMessage> CopyAsync(MessageContext context, Subject subject, string step, CancellationToken cancellationToken)
    {
        Name(context);
        return inner.CopyAsync(context, subject, step, cancellationToken);
    }

    private void Require(MessageContext context, Subject subject)
    {
        if (PartyOf(context) is not { } name)
            return;
        if (parties.Current.TryFind(name, out var party) && !party.MayPublish(subject.Value))
            throw PartyFaults.MayNotPublish(party, subject.Value);
        Name(context);
    }

    private static string? PartyOf(MessageContext context) => context.Received.Party ?? context.ProvenParty;

    private static void Name(MessageContext context)
    {
        if (context.Message.Party is null && PartyOf(context) is { } name)
            context.Message = context.Message with { Party = name };
    }
}
