using Esb.Topics.RabbitMq.Planning;

namespace Esb.IntegrationTests.Topics;

/// <summary>Nobody works with the queues: the transport of a fixture is no whole host, and answers nothing.</summary>
internal sealed class NoUsers : IQueueUsers, IAsyncDisposable
{
    public Task LetGoAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public void RefuseOldHosts() { }

    public Task<IAsyncDisposable> HoldPublishesAsync(IReadOnlyList<string> destinations, CancellationToken cancellationToken) =>
        Task.FromResult<IAsyncDisposable>(this);

    public Task GoOnAsync() => Task.CompletedTask;

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;
}
