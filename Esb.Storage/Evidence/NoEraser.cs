using Esb.Core.Audit;
using Esb.Core.Errors;

namespace Esb.Storage.Evidence;

/// <summary>Segments are written once: they go as a whole, when the retention is over.</summary>
internal sealed class NoEraser : IAuditEraser
{
    public Task<bool> IsErasedAsync(Guid messageId, CancellationToken cancellationToken) => throw Refused();

    public Task<long> EraseBodiesAsync(Guid messageId, CancellationToken cancellationToken) => throw Refused();

    private static EsbException Refused() =>
        new(
            "ESB-STORE-READONLY",
            "The file store does not let go of single bodies; they go when audit.retention is over. The PostgreSQL store does.",
            FaultKind.Invalid
        );
}
