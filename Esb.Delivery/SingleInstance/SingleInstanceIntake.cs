using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;

namespace Esb.Delivery.SingleInstance;

/// <summary>Accepts messages only while this host holds the lease.</summary>
internal sealed class SingleInstanceIntake(string endpoint, IMessageIntake intake, Func<bool> isHeld) : IMessageIntake
{
    public bool NeedsTopics => intake.NeedsTopics;

    public ValueTask<IntakeResult> ReceiveAsync(EsbMessage message, CancellationToken cancellationToken) =>
        isHeld() ? intake.ReceiveAsync(message, cancellationToken) : throw Lost();

    public ValueTask<IntakeResult> ReceiveAsync(EsbMessage message, IUnitOfWork unitOfWork, CancellationToken cancellationToken) =>
        isHeld() ? intake.ReceiveAsync(message, unitOfWork, cancellationToken) : throw Lost();

    public ValueTask RefuseAsync(EsbMessage message, string code, string reason, CancellationToken cancellationToken) =>
        isHeld() ? intake.RefuseAsync(message, code, reason, cancellationToken) : throw Lost();

    public ValueTask AbortAsync(EsbMessage message, string code, string reason, CancellationToken cancellationToken) =>
        isHeld() ? intake.AbortAsync(message, code, reason, cancellationToken) : throw Lost();

    public ValueTask RecognizeAsync(EsbMessage message, string code, string reason, CancellationToken cancellationToken) =>
        isHeld() ? intake.RecognizeAsync(message, code, reason, cancellationToken) : throw Lost();

    private EsbException Lost() =>
        new("ESB-ENDPOINT-STANDBY", $"The endpoint '{endpoint}' runs on another host now.", FaultKind.Unavailable);
}
