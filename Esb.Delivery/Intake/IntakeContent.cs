using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Messages;

namespace Esb.Delivery.Intake;

/// <summary>What an inbound endpoint has to keep of its messages so that the audit can record it. Immutable.</summary>
/// <param name="ReadsReceived">Whether the body is recorded, or fields of it: it is buffered then before anything reads it.</param>
/// <param name="HasReply">Whether something of the answers of its process is recorded; what a topic answers is recorded where it is published.</param>
/// <param name="MaxBytes">The most that is buffered.</param>
internal sealed record IntakeContent(bool ReadsReceived, bool HasReply, long MaxBytes)
{
    /// <summary>Whether the steps of its process are recorded.</summary>
    public bool HasSteps { get; init; }

    /// <summary>Whether something of a message is recorded before and after a step that transforms it.</summary>
    public bool HasTransforms { get; init; }

    /// <summary>What the configuration wants at an endpoint.</summary>
    public static IntakeContent Of(InboundEndpointConfig config, IAuditTrail audit, long maxBytes) => new(
        audit.Wants(AuditKind.Received, config.Name) >= AuditBodies.Fields,
        config.Process is not null && audit.Wants(AuditKind.Replied, config.Name) != AuditBodies.None,
        maxBytes)
    {
        HasSteps = config.Process is not null && audit.WantsSteps(config.Name),
        HasTransforms = audit.Wants(AuditKind.StepEnded, config.Name) != AuditBodies.None,
    };

    /// <summary>Buffers the body.</summary>
    /// <exception cref="Core.Errors.EsbException"><c>ESB-BODY-SIZE</c>: it is larger than any may be.</exception>
    public async ValueTask BufferAsync(EsbMessage message, CancellationToken cancellationToken) => await message.Body.BufferAsync(MaxBytes, cancellationToken);
}
