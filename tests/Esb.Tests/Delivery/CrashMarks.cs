using Esb.Core.Errors;
using Esb.Core.Storage;

namespace Esb.Tests.Delivery;

/// <summary>Marks in memory; a test sets what an earlier process left.</summary>
internal sealed class CrashMarks : ICrashMarks
{
    private readonly Lock _gate = new();

    public Dictionary<Guid, int> Left { get; } = [];

    public bool IsAway { get; set; }

    public Task<int> AddAsync(string endpoint, Guid messageId, CancellationToken cancellationToken)
    {
        ThrowIfAway();
        lock (_gate)
            return Task.FromResult(Left[messageId] = Left.GetValueOrDefault(messageId) + 1);
    }

    public Task RemoveAsync(string endpoint, Guid messageId, CancellationToken cancellationToken)
    {
        ThrowIfAway();
        lock (_gate)
            Left.Remove(messageId);
        return Task.CompletedTask;
    }

    private void ThrowIfAway()
    {
        if (IsAway)
            throw new EsbException("ESB-STORE-AWAY", "The store cannot be reached.", FaultKind.Unavailable);
    }
}
