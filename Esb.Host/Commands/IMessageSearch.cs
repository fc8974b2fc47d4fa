using Esb.Host.Management;

namespace Esb.Host.Commands;

/// <summary>Where commands look for messages: a running host, or a store.</summary>
internal interface IMessageSearch
{
    /// <summary>The newest facts first.</summary>
    Task<IReadOnlyList<AuditFactView>> FindAsync(MessageQuery query, CancellationToken cancellationToken);

    /// <summary>Every fact of a message and its conversation, oldest first.</summary>
    Task<IReadOnlyList<AuditFactView>> GetJourneyAsync(Guid messageId, CancellationToken cancellationToken);
}

/// <summary>What <c>esb audit find</c> looks for.</summary>
internal sealed record MessageQuery(IReadOnlyDictionary<string, string> Where, string? Endpoint, int Limit);
