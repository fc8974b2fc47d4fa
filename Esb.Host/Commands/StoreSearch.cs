using Esb.Core.Audit;
using Esb.Host.Management;

namespace Esb.Host.Commands;

/// <summary>Reads the store of a configuration, whether or not a host runs on it; nothing is started.</summary>
internal sealed class StoreSearch(IAuditStore store) : IMessageSearch
{
    public async Task<IReadOnlyList<AuditFactView>> FindAsync(MessageQuery query, CancellationToken cancellationToken)
    {
        var facts = store.FindAsync(new AuditQuery { Where = query.Where, Endpoint = query.Endpoint, Limit = query.Limit }, cancellationToken);
        return await facts.Select(AuditFactView.Of).ToListAsync(cancellationToken);
    }

    public async Task<IReadOnlyList<AuditFactView>> GetJourneyAsync(Guid messageId, CancellationToken cancellationToken)
    {
        var facts = await store.GetJourneyAsync(messageId, cancellationToken);
        return facts.Count > 0
            ? [.. facts.Select(AuditFactView.WithBody)]
            : throw new CommandException(ExitCode.Usage, "ESB-API-NOTFOUND", $"Nothing is recorded of a message {messageId}.");
    }
}
