using Esb.Core.Errors;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Workflows.Workflows.Running;

namespace Esb.Workflows.Processes.Steps;

/// <summary>The commit of a split whose items take effect all or not at all: what they publish is stored in one transaction once all steps
/// have run, and published then, also after a kill (pattern: Transactional Outbox). One run; not thread-safe.</summary>
/// <param name="store">Stores the messages.</param>
/// <param name="publisher">Publishes them.</param>
/// <param name="interchange">The message and the split.</param>
/// <param name="maxBytes">The most that the items may publish together.</param>
internal sealed class SplitCommit(IOutboxStore store, OutboxPublisher publisher, Guid interchange, long maxBytes) : IMessageOutbox
{
    private static readonly TimeSpan Claim = TimeSpan.FromSeconds(20);

    private readonly List<OutboxMessage> _messages = [];
    private readonly List<ProcessEnd> _ends = [];
    private long _bytes;

    /// <exception cref="EsbException"><c>ESB-SPLIT-OUTPUT</c>: too much was published.</exception>
    public void Publish(OutgoingMessage message)
    {
        _bytes += message.Message.Body.Length ?? 0;
        if (_bytes > maxBytes)
            throw new EsbException("ESB-SPLIT-OUTPUT", $"The items publish more than {maxBytes} bytes together.", FaultKind.TooLarge);
        _messages.Add(new OutboxMessage($"split {interchange}", message));
    }

    /// <summary>Adds what waits for the end of an item; null if nothing does.</summary>
    public void Add(ProcessEnd? end)
    {
        if (end is not null)
            _ends.Add(end);
    }

    /// <summary>Runs the items, then commits.</summary>
    /// <param name="context">The whole message.</param>
    /// <param name="runItems">Runs the steps with all items.</param>
    /// <param name="keepDone">Keeps that the commit was made, for a repetition.</param>
    /// <param name="cancellationToken">Cancels the commit before it begins.</param>
    public async ValueTask RunAsync(
        MessageContext context,
        Func<ValueTask> runItems,
        Func<Task> keepDone,
        CancellationToken cancellationToken
    )
    {
        // A transaction around the split, or another split, commits for it.
        var commits = context is { UnitOfWork: null, Outbox: null };
        var published = context.FirstPublish;
        try
        {
            if (commits)
                context.Outbox = this;
            await runItems();
            if (commits && _messages.Count > 0)
                await store.AddAsync(_messages, Claim, cancellationToken);
        }
        catch
        {
            context.RestorePublished(published);
            foreach (var end in _ends)
                await end.FailAsync();
            throw;
        }
        finally
        {
            if (commits)
                context.Outbox = null;
        }

        if (commits)
            publisher.Publish(_messages, followsOthers: false);
        foreach (var end in _ends)
            await end.SucceedAsync(CancellationToken.None);
        if (commits)
            await keepDone();
    }
}
