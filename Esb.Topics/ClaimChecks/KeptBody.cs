using Esb.Core.Storage;

namespace Esb.Topics.ClaimChecks;

/// <summary>A body that is stored once, however often its message is published. Thread-safe.</summary>
internal sealed class KeptBody(ReadOnlyMemory<byte> body)
{
    private readonly Lock _gate = new();
    private Task<ClaimTicket>? _keeping;

    public Task<ClaimTicket> KeepAsync(IClaimCheckStore store)
    {
        lock (_gate)
        {
            if (_keeping is null or { IsFaulted: true } or { IsCanceled: true })
                _keeping = store.PutAsync(body, CancellationToken.None);
            return _keeping;
        }
    }
}
