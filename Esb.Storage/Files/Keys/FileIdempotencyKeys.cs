using Esb.Core.Storage;
using Esb.Storage.Segments;
using Microsoft.Extensions.Logging;

namespace Esb.Storage.Files.Keys;

/// <summary>Keys of requests in segments, for one host: what an earlier process claimed and did not answer is free at once.</summary>
internal sealed class FileIdempotencyKeys : IIdempotencyKeys
{
    private const int MaxKeys = 500_000;

    private static readonly TimeSpan SweepInterval = TimeSpan.FromHours(1);

    private readonly Guid _process = Guid.CreateVersion7();
    private readonly Lock _gate = new();
    private readonly Dictionary<UInt128, KeyClaim.Granted> _running = [];
    private readonly Lazy<SegmentLog> _log;
    private readonly KeyIndex _index;
    private readonly TimeProvider _time;
    private DateTimeOffset _swept;

    public FileIdempotencyKeys(string folder, Lazy<SegmentLog> log, TimeProvider time, ILogger logger, int maxKeys = MaxKeys)
    {
        _log = log;
        _index = new KeyIndex(folder, () => log.Value.Committed, _process, maxKeys, logger);
        _time = time;
    }

    /// <summary>Opens the folder and learns what is in it, so that the first claim does not have to.</summary>
    public void Open()
    {
        _ = _log.Value;
        lock (_gate) _index.Refresh();
    }

    public async Task<KeyClaim> ClaimAsync(IdempotencyKey key, ReadOnlyMemory<byte> bodyHash, CancellationToken cancellationToken)
    {
        var claim = Decide(key, bodyHash);
        if (claim is not KeyClaim.Granted granted) return claim;
        try
        {
            await AppendAsync(StoredKey.Write(granted, _time.GetUtcNow()), cancellationToken);
            return granted;
        }
        catch
        {
            Leave(granted);
            throw;
        }
    }

    // The folder is this process's alone: the claim holds until it is given back, or the process ends.
    public Task RenewAsync(KeyClaim.Granted claim, CancellationToken cancellationToken) => Task.CompletedTask;

    public async Task CompleteAsync(KeyClaim.Granted claim, RecordedAnswer answer, CancellationToken cancellationToken)
    {
        if (!IsHeld(claim)) return;
        try
        {
            await AppendAsync(StoredKey.Write(claim, answer, answer.IsDurable ? null : _process, _time.GetUtcNow()), cancellationToken);
        }
        finally
        {
            Leave(claim);
        }
    }

    public Task ReleaseAsync(KeyClaim.Granted claim, CancellationToken cancellationToken)
    {
        Leave(claim);
        return Task.CompletedTask;
    }

    private KeyClaim Decide(IdempotencyKey key, ReadOnlyMemory<byte> bodyHash)
    {
        var id = StoredKey.IdOf(key);
        var body = StoredKey.Beginning(bodyHash.Span);
        lock (_gate)
        {
            if (_running.TryGetValue(id, out var other)) return StoredKey.Beginning(other.BodyHash.Span) == body ? new KeyClaim.Running() : new KeyClaim.Conflicting();
            if (FindKnown(id) is { } known)
            {
                if (known.Body != body) return new KeyClaim.Conflicting();
                if (known.IsAnswered && _index.Read(known) is var (stored, answer)) return new KeyClaim.Answered(AnswerOf(stored, answer));
            }

            return _running[id] = new KeyClaim.Granted(key, bodyHash, Guid.CreateVersion7());
        }
    }

    private KeyEntry? FindKnown(UInt128 id)
    {
        _index.Refresh();
        var now = _time.GetUtcNow();
        if (now - _swept > SweepInterval)
        {
            _index.Forget(now - IIdempotencyKeys.Window);
            _swept = now;
        }

        return _index.Find(id, now - IIdempotencyKeys.Window);
    }

    private bool IsHeld(KeyClaim.Granted claim)
    {
        lock (_gate) return _running.GetValueOrDefault(StoredKey.IdOf(claim.Key))?.Token == claim.Token;
    }

    private void Leave(KeyClaim.Granted claim)
    {
        lock (_gate)
        {
            if (IsHeld(claim)) _running.Remove(StoredKey.IdOf(claim.Key));
        }
    }

    private async Task AppendAsync(ReadOnlyMemory<byte> record, CancellationToken cancellationToken)
    {
        try
        {
            await _log.Value.AppendAsync(record, cancellationToken);
        }
        catch (Exception ex) when (StoreErrors.IsWriteFailure(ex))
        {
            throw StoreErrors.NotWritten(ex);
        }
    }

    private static RecordedAnswer AnswerOf(StoredKey stored, ReadOnlyMemory<byte>? body) =>
        new(stored.Status!.Value, stored.ContentType, stored.Headers ?? new Dictionary<string, string>(), body, stored.Process is null);
}
