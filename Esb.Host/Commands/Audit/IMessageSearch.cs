using Esb.Core.Audit;
using Esb.Host.Management;
using Esb.Host.Management.Messages;

namespace Esb.Host.Commands.Audit;

/// <summary>The source that commands search for messages: a running host, or a store.</summary>
internal interface IMessageSearch
{
    /// <summary>Finds facts, newest first.</summary>
    Task<Page<AuditFactView>> FindAsync(AuditQuery query, CancellationToken cancellationToken);

    /// <summary>Finds every fact of a message and its conversation that a journey shows, oldest first.</summary>
    Task<IReadOnlyList<AuditFactView>> GetFactsAsync(Guid messageId, CancellationToken cancellationToken);

    /// <summary>The journey of a message as text.</summary>
    Task<string> DrawJourneyAsync(Guid messageId, JourneyFormat format, CancellationToken cancellationToken);
}
