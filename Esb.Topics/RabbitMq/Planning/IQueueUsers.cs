namespace Esb.Topics.RabbitMq.Planning;

/// <summary>The hosts that work with the queues of an endpoint while these are replaced.</summary>
internal interface IQueueUsers
{
    /// <summary>Has all of them let go of the queues.</summary>
    /// <exception cref="Esb.Core.Errors.EsbException"><c>ESB-PLAN-BUSY</c>: not all did.</exception>
    Task LetGoAsync(CancellationToken cancellationToken);

    /// <summary>Makes sure that all of them know the names that the queues will have.</summary>
    /// <exception cref="Esb.Core.Errors.EsbException"><c>ESB-PLAN-BUSY</c>: one is of release 0.1.</exception>
    void RefuseOldHosts();

    /// <summary>Has all of them hold back what they publish, until the result is disposed: 10 s at most.</summary>
    /// <exception cref="Esb.Core.Errors.EsbException"><c>ESB-PLAN-BUSY</c>: not all did.</exception>
    Task<IAsyncDisposable> HoldPublishesAsync(IReadOnlyList<string> destinations, CancellationToken cancellationToken);

    /// <summary>Lets them go on with the queues as they are now.</summary>
    Task GoOnAsync();
}
