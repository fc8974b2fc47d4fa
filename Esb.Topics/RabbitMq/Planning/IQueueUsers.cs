namespace Esb.Topics.RabbitMq.Planning;

/// <summary>The hosts that work with the queues of an endpoint while these are replaced.</summary>
internal interface IQueueUsers
{
    /// <summary>Makes all of them release the queues.</summary>
    /// <exception cref="Esb.Core.Errors.EsbException"><c>ESB-PLAN-BUSY</c>: not all hosts did.</exception>
    Task LetGoAsync(CancellationToken cancellationToken);

    /// <summary>Ensures that all of them support the new names of the queues.</summary>
    /// <exception cref="Esb.Core.Errors.EsbException"><c>ESB-PLAN-BUSY</c>: a host is of release 0.1.</exception>
    void RefuseOldHosts();

    /// <summary>Makes all of them hold back their publishes until the result is disposed: 10 s at most.</summary>
    /// <exception cref="Esb.Core.Errors.EsbException"><c>ESB-PLAN-BUSY</c>: not all hosts did.</exception>
    Task<IAsyncDisposable> HoldPublishesAsync(IReadOnlyList<string> destinations, CancellationToken cancellationToken);

    /// <summary>Lets them resume with the current queues.</summary>
    Task GoOnAsync();
}
