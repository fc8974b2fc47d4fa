using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Messages;

namespace Esb.Delivery.Intake;

/// <summary>The message content that an inbound endpoint buffers for the audit. Immutable.</summary>
/// <param name="ReadsReceived">True if the body, or fields of it, are recorded; the body is then buffered before it is read.</param>
/// <param name="HasReply">True if replies of the endpoint's process are recorded; replies from a topic are recorded at the publish.</param>
/// <param name="MaxBytes">The maximum number of bytes buffered.</param>
internal sealed record IntakeContent(bool ReadsReceived, bool HasReply, long MaxBytes)
{
    /// <summary>True if the steps of the endpoint's process are recorded.</summary>
    public bool HasSteps { get; init; }

    /// <summary>True if message content is recorded before and after each transforming step.</summary>
    public bool HasTransforms { get; init; }

    /// <summary>True if bodies stay where they are, and are not recorded.</summary>
    public bool Streams { get; init; }

    /// <summary>The audit content configured for an endpoint.</summary>
    public static IntakeContent Of(InboundEndpointConfig config, IAuditTrail audit, long maxBytes) =>
        new(
            audit.Wants(AuditKind.Received, config.Name) >= AuditBodies.Fields,
            config.EntryProcess is not null && audit.Wants(AuditKind.Replied, config.Name) != AuditBodies.None,
            maxBytes
        )
        {
            HasSteps = config.EntryProcess is not null && audit.WantsSteps(config.Name),
            Streams = config.BodyTransfer == BodyTransfer.Streamed,
            HasTransforms = audit.Wants(AuditKind.StepEnded, config.Name) != AuditBodies.None,
        };

    /// <summary>Buffers the body, unless bodies stay where they are.</summary>
    /// <exception cref="Core.Errors.EsbException"><c>ESB-BODY-SIZE</c>: the body exceeds the maximum size.</exception>
    public async ValueTask BufferAsync(EsbMessage message, CancellationToken cancellationToken)
    {
        if (!Streams && !message.Body.CanReopen)
            await message.Body.BufferAsync(MaxBytes, cancellationToken);
    }
}
