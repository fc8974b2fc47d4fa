using System.Collections.Concurrent;
using Esb.Core.Endpoints;
using Esb.Core.Messages;
using Esb.Core.Processes;

namespace Esb.Tests.Endpoints.Files;

/// <summary>Takes messages in, and remembers them; what it answers is up to the test. Thread-safe.</summary>
internal sealed class RecordingIntake : IMessageIntake
{
    private readonly ConcurrentQueue<EsbMessage> _messages = new();
    private readonly ConcurrentQueue<string> _refusals = new();

    /// <summary>Throws, waits, or says when the message has arrived; at once by default.</summary>
    public Func<EsbMessage, CancellationToken, Task<Task>> Answer { get; set; } = (_, _) => Task.FromResult(Task.CompletedTask);

    public bool IsDurable { get; init; } = true;

    public IReadOnlyList<EsbMessage> Messages => [.. _messages];

    public IReadOnlyList<string> Bodies => [.. _messages.Select(message => message.Body.ReadText())];

    public IReadOnlyList<string> Refusals => [.. _refusals];

    public bool NeedsTopics => true;

    public async ValueTask<IntakeResult> ReceiveAsync(EsbMessage message, CancellationToken cancellationToken)
    {
        _messages.Enqueue(message);
        return new IntakeResult(message.Id, null, null, IsDurable, await Answer(message, cancellationToken));
    }

    public ValueTask<IntakeResult> ReceiveAsync(EsbMessage message, IUnitOfWork unitOfWork, CancellationToken cancellationToken) =>
        ReceiveAsync(message, cancellationToken);

    public ValueTask RefuseAsync(EsbMessage message, string code, string reason, CancellationToken cancellationToken)
    {
        _refusals.Enqueue(code);
        return ValueTask.CompletedTask;
    }

    public ValueTask AbortAsync(EsbMessage message, string code, string reason, CancellationToken cancellationToken) =>
        RefuseAsync(message, code, reason, cancellationToken);

    public ValueTask RecognizeAsync(EsbMessage message, string code, string reason, CancellationToken cancellationToken) =>
        RefuseAsync(message, code, reason, cancellationToken);
}
