using Esb.Configuration;
using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Processes;
using Esb.Core.Topics;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Intake;

/// <summary>Creates the intake of an inbound endpoint.</summary>
internal sealed class IntakeFactory(
    IProcessCatalog processes,
    ITopicPublisher publisher,
    ITopicTransport transport,
    IAuditTrail audit,
    IntakeStates states,
    LimitsConfig limits,
    TimeProvider time,
    ILogger<MessageIntake> logger,
    IEntryGates? gates = null
) : IIntakes
{
    public IMessageIntake Create(InboundEndpointConfig config, MessageStep? afterwards = null) =>
        new MessageIntake(
            config,
            Gated(config, afterwards is null ? StepOf(config) : Chain(StepOf(config), afterwards)),
            NeedsTopics(config),
            transport.IsDurable,
            states.Of(config.Name),
            IntakeContent.Of(config, audit, MaxBodyBytes),
            audit,
            time,
            logger
        )
        {
            OnlyAnswers = OnlyAnswers(config),
        };

    private long MaxBodyBytes => limits.MaxBodySize.Bytes;

    private bool NeedsTopics(InboundEndpointConfig config) =>
        config.Publish is not null || (config.EntryProcess is { } process && processes.Find(process).NeedsTopics);

    // A request on a topic is no message that anybody accepted: its requester waits, and asks again.
    private bool OnlyAnswers(InboundEndpointConfig config) =>
        config is { Mode: ExchangePattern.RequestReply, Dedupe: null }
        && (config.EntryProcess is not { } process || !processes.Find(process).Accepts);

    private MessageStep StepOf(InboundEndpointConfig config)
    {
        if (config.EntryProcess is { } process)
            return processes.Find(process).RunAsync;
        if (config.Publish is not { } subject)
            return RefuseRelayed;
        return config.Mode == ExchangePattern.RequestReply
            ? (context, cancellationToken) => RequestAsync(config, subject, context, cancellationToken)
            : (context, cancellationToken) => publisher.PublishAsync(context, subject, config.Name, cancellationToken);
    }

    private MessageStep Gated(InboundEndpointConfig config, MessageStep run) => gates?.Before(config, run) ?? run;

    private static MessageStep Chain(MessageStep first, MessageStep second) =>
        async (context, cancellationToken) =>
        {
            await first(context, cancellationToken);
            if (context.Outcome != ProcessOutcome.Filtered)
                await second(context, cancellationToken);
        };

    private async ValueTask RequestAsync(
        InboundEndpointConfig config,
        Subject subject,
        MessageContext context,
        CancellationToken cancellationToken
    )
    {
        try
        {
            await publisher.RequestAsync(context, subject, config.Timeout, config.Name, cancellationToken);
        }
        catch (EsbException ex) when (ex.Code == "ESB-REQUEST-TIMEOUT")
        {
            throw MessageIntake.TimedOut(config, ex);
        }
    }

    private static ValueTask RefuseRelayed(MessageContext context, CancellationToken cancellationToken) =>
        throw new InvalidOperationException($"The endpoint '{context.Endpoint}' relays; it takes no messages in.");
}
