using System.Collections.Concurrent;
using Esb.Core.Storage;

namespace Esb.Tests.Fakes;

/// <summary>Claims in memory. Thread-safe.</summary>
internal sealed class HeldClaims : IIdempotencyKeys
{
    private readonly ConcurrentDictionary<string, byte> _held = new();

    public bool AllRun { get; set; }

    public IReadOnlyCollection<string> Held => [.. _held.Keys];

    public ConcurrentQueue<string?> Clients { get; } = new();

    public Task<KeyClaim> ClaimAsync(IdempotencyKey key, ReadOnlyMemory<byte> bodyHash, CancellationToken cancellationToken)
    {
        Clients.Enqueue(key.Client);
        return Task.FromResult<KeyClaim>(
            !AllRun && _held.TryAdd(key.Value, 0) ? new KeyClaim.Granted(key, bodyHash, Guid.NewGuid()) : new KeyClaim.Running()
        );
    }

    public Task RenewAsync(KeyClaim.Granted claim, CancellationToken cancellationToken) => Task.CompletedTask;

    public Task CompleteAsync(KeyClaim.Granted claim, RecordedAnswer answer, CancellationToken cancellationToken) =>
        throw new NotSupportedException();

    public Task ReleaseAsync(KeyClaim.Granted claim, CancellationToken cancellationToken)
    {
        _held.TryRemove(claim.Key.Value, out _);
        return Task.CompletedTask;
    }
}
