using Esb.Core.Endpoints;
using Esb.Core.Messages;
using Esb.Core.Processes;

namespace Esb.Delivery.Intake;

/// <summary>The intake of an endpoint that outlives a revision. A message finishes on the intake that it started on. Thread-safe.</summary>
internal sealed class ExchangedIntake(IMessageIntake first) : IMessageIntake
{
    private volatile IMessageIntake _current = first;

    public bool NeedsTopics => _current.NeedsTopics;

    public void Exchange(IMessageIntake next) => _current = next;

    public ValueTask<IntakeResult> ReceiveAsync(EsbMessage message, CancellationToken cancellationToken) =>
        _current.ReceiveAsync(message, cancellationToken);

    public ValueTask<IntakeResult> ReceiveAsync(EsbMessage message, IUnitOfWork unitOfWork, CancellationToken cancellationToken) =>
        _current.ReceiveAsync(message, unitOfWork, cancellationToken);

    public ValueTask RefuseAsync(EsbMessage message, string code, string reason, CancellationToken cancellationToken) =>
        _current.RefuseAsync(message, code, reason, cancellationToken);

    public ValueTask AbortAsync(EsbMessage message, string code, string reason, CancellationToken cancellationToken) =>
        _current.AbortAsync(message, code, reason, cancellationToken);

    public ValueTask RecognizeAsync(EsbMessage message, string code, string reason, CancellationToken cancellationToken) =>
        _current.RecognizeAsync(message, code, reason, cancellationToken);
}
