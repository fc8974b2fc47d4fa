using System.Collections.Concurrent;
using Esb.Core.Errors;
using Esb.Core.Storage;

namespace Esb.Tests.Endpoints.Brokers;

/// <summary>Dead letters in memory. Thread-safe.</summary>
internal sealed class KeptLetters : IDeadLetterChannel
{
    private readonly ConcurrentQueue<DeadLetter> _letters = new();

    /// <summary>True while the store is unreachable.</summary>
    public bool IsAway { get; set; }

    public IReadOnlyList<DeadLetter> All => [.. _letters];

    public ValueTask KeepAsync(DeadLetter letter, CancellationToken cancellationToken)
    {
        if (IsAway)
            throw new EsbException("ESB-STORE-AWAY", "The store is unreachable.", FaultKind.Unavailable);
        _letters.Enqueue(letter);
        return ValueTask.CompletedTask;
    }
}
