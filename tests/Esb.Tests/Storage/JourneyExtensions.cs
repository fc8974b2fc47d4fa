using Esb.Core.Audit;

namespace Esb.Tests.Storage;

internal static class JourneyExtensions
{
    /// <summary>All facts of a message and its conversation, with their bodies.</summary>
    public static Task<IReadOnlyList<AuditFact>> GetJourneyAsync(
        this IAuditStore store,
        Guid messageId,
        CancellationToken cancellationToken
    ) =>
        store.GetJourneyAsync(
            new AuditJourneyQuery
            {
                MessageId = messageId,
                Limit = int.MaxValue,
                MaxBodyBytes = long.MaxValue,
            },
            cancellationToken
        );
}
