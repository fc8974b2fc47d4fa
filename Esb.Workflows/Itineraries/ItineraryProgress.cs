using Esb.Core.Errors;
using Esb.Core.Itineraries;
using Esb.Core.Storage;
using Esb.Workflows.Workflows.Running;

namespace Esb.Workflows.Itineraries;

/// <summary>Where messages are on their itineraries: looked up, and stored for many messages in one commit. Thread-safe.</summary>
internal sealed class ItineraryProgress(IItineraryRuns runs) : IAsyncDisposable
{
    private readonly GroupCommit<ItineraryRun, ValueTuple> _commits = GroupCommit.Of<ItineraryRun>(
        group => runs.SaveAsync(group, CancellationToken.None),
        StoreRefusal.Is
    );

    /// <summary>Stores where a message is; durable when it returns.</summary>
    /// <exception cref="EsbException"><c>ESB-STORE-AWAY</c>, <c>ESB-STORE-WRITE</c>.</exception>
    public Task SaveAsync(ItineraryRun run) => _commits.CommitAsync(run);

    /// <inheritdoc cref="IItineraryRuns.FindAsync"/>
    public Task<ItineraryRun?> FindAsync(Guid message, CancellationToken cancellationToken) => runs.FindAsync(message, cancellationToken);

    public ValueTask DisposeAsync() => _commits.DisposeAsync();
}
