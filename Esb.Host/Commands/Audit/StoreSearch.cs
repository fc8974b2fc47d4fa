using Esb.Audit.Journeys;
using Esb.Core.Audit;
using Esb.Host.Management;
using Esb.Host.Management.Messages;

namespace Esb.Host.Commands.Audit;

/// <summary>Reads the store of a configuration, with or without a running host; starts nothing.</summary>
internal sealed class StoreSearch(IAuditStore store) : IMessageSearch
{
    public async Task<Page<AuditFactView>> FindAsync(AuditQuery query, CancellationToken cancellationToken) =>
        AuditFactView.PageOf(
            query,
            await store.FindAsync(query, cancellationToken).Select(AuditFactView.Of).ToListAsync(cancellationToken)
        );

    public async Task<IReadOnlyList<AuditFactView>> GetFactsAsync(Guid messageId, CancellationToken cancellationToken) =>
        [.. (await ReadAsync(messageId, JourneyView.MaxBodyBytes, cancellationToken)).AllFacts.Select(AuditFactView.WithBody)];

    public async Task<string> DrawJourneyAsync(Guid messageId, JourneyFormat format, CancellationToken cancellationToken) =>
        JourneyFormats.Draw(await ReadAsync(messageId, maxBodyBytes: 0, cancellationToken), format);

    private async Task<Journey> ReadAsync(Guid messageId, long maxBodyBytes, CancellationToken cancellationToken)
    {
        var facts = await JourneyReader.ReadAsync(store, messageId, maxBodyBytes, cancellationToken);
        return facts.Count > 0
            ? JourneyBuilder.Build(messageId, facts)
            : throw new CommandException(ExitCode.Usage, "ESB-API-NOTFOUND", $"Nothing is recorded of a message {messageId}.");
    }
}
