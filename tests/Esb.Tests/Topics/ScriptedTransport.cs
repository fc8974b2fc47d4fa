using Esb.Core.Messages;
using Esb.Core.Topics;

namespace Esb.Tests.Topics;

/// <summary>A transport that answers as a test wrote down, and confirms when nothing is written.</summary>
internal sealed class ScriptedTransport : ITopicTransport
{
    public Queue<PublishResult> Outcomes { get; } = new();

    public Func<EsbMessage, EsbMessage> Answer { get; set; } = request => request.Reply(MessageBody.Empty, TimeProvider.System);

    /// <summary>What the confirmations of requests wait for.</summary>
    public Task Confirming { get; set; } = Task.CompletedTask;

    /// <summary>What replies wait for.</summary>
    public Task Answering { get; set; } = Task.CompletedTask;

    public List<EsbMessage> Published { get; } = [];

    public string System => "scripted";

    public bool IsDurable => true;

    public TransportStatus Status { get; set; } = new(IsReady: true);

    public Task StartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public ValueTask<PublishResult> PublishAsync(EsbMessage message, CancellationToken cancellationToken)
    {
        lock (Published)
            Published.Add(message);
        return ValueTask.FromResult(Outcomes.TryDequeue(out var outcome) ? outcome : PublishResult.Confirmed);
    }

    public async Task<Task<EsbMessage>> SendRequestAsync(EsbMessage request, TimeSpan timeout, CancellationToken cancellationToken)
    {
        lock (Published)
            Published.Add(request);
        await Confirming;
        return ReplyAsync();

        async Task<EsbMessage> ReplyAsync()
        {
            await Answering.WaitAsync(cancellationToken);
            return Answer(request) with { CorrelationId = request.CorrelationId };
        }
    }

    public ValueTask<PublishResult> PublishRequestAsync(EsbMessage request, TimeSpan timeout, CancellationToken cancellationToken) =>
        PublishAsync(request, cancellationToken);

    public Task<ITopicReader> ReceiveRepliesAsync(ReplyHandler handler, CancellationToken cancellationToken) =>
        throw new NotSupportedException();

    public Task<ITopicSubscription> SubscribeAsync(
        Subscription subscription,
        DeliveryHandler handler,
        CancellationToken cancellationToken
    ) => throw new NotSupportedException();

    public Task<ITopicReader> ReadDeadLettersAsync(DeadLetterHandler handler, CancellationToken cancellationToken) =>
        throw new NotSupportedException();

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;
}
