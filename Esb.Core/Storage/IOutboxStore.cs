using Esb.Core.Messages;
using Esb.Core.Topics;

namespace Esb.Core.Storage;

/// <summary>A message that is published because a change was stored (pattern: Transactional Outbox). Immutable.</summary>
/// <param name="Owner">Messages of one owner are published in their order.</param>
/// <param name="Message">The message, ready to be published.</param>
public sealed record OutboxMessage(string Owner, OutgoingMessage Message)
{
    /// <summary>The endpoint to whose queue it is sent, past the topics; null if it is published under its subject.</summary>
    public string? Queue { get; init; }

    /// <summary>Identifies it in the outbox.</summary>
    public Guid Id =>
        MessageIds.Derive(
            Message.Message.Id,
            Queue is not null ? $"outbox {Queue} {Message.Step}"
                : Message.ReplyTo is not null ? $"outbox {Owner}"
                : "outbox"
        );
}

/// <summary>Messages that were stored with a change and are still to be published. Whoever stores them publishes them at once; what a host
/// leaves behind, others find here. Thread-safe.</summary>
public interface IOutboxStore
{
    /// <summary>Stores messages in one transaction, claimed by the caller, who publishes them at once. Those that are there already
    /// stay.</summary>
    Task AddAsync(IReadOnlyList<OutboxMessage> messages, TimeSpan claim, CancellationToken cancellationToken);

    /// <summary>Claims messages whose claim has ended, in their order: all of an owner, or none.</summary>
    Task<IReadOnlyList<OutboxMessage>> ClaimAsync(int limit, TimeSpan claim, CancellationToken cancellationToken);

    /// <summary>Extends the claim of messages that are still being published.</summary>
    Task ExtendAsync(IReadOnlyList<Guid> ids, TimeSpan claim, CancellationToken cancellationToken);

    /// <summary>Ends the claims of a process that has ended, where no other host shares the store.</summary>
    Task ReleaseAsync(CancellationToken cancellationToken);

    /// <summary>Removes published messages.</summary>
    Task RemoveAsync(IReadOnlyList<Guid> ids, CancellationToken cancellationToken);
}
