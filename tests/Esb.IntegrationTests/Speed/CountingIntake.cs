using Esb.Core.Endpoints;
using Esb.Core.Messages;
using Esb.Core.Processes;

namespace Esb.IntegrationTests.Speed;

/// <summary>Takes every message at once, counts it, and gives the same answer to each. Thread-safe.</summary>
internal sealed class CountingIntake(Action count, EsbMessage? reply = null) : IMessageIntake
{
    public bool NeedsTopics => true;

    public ValueTask<IntakeResult> ReceiveAsync(EsbMessage message, CancellationToken cancellationToken)
    {
        count();
        return ValueTask.FromResult(new IntakeResult(message.Id, reply, Status: null, IsDurable: true, Task.CompletedTask));
    }

    public ValueTask<IntakeResult> ReceiveAsync(EsbMessage message, IUnitOfWork unitOfWork, CancellationToken cancellationToken) =>
        ReceiveAsync(message, cancellationToken);

    public ValueTask RefuseAsync(EsbMessage message, string code, string reason, CancellationToken cancellationToken) =>
        throw new AssertionException($"{code}: {reason}");

    public ValueTask AbortAsync(EsbMessage message, string code, string reason, CancellationToken cancellationToken) =>
        throw new AssertionException($"{code}: {reason}");

    public ValueTask RecognizeAsync(EsbMessage message, string code, string reason, CancellationToken cancellationToken) =>
        throw new AssertionException($"{code}: {reason}");
}
