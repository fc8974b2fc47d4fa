using System.Diagnostics;
using System.Security.Cryptography;
using System.Text;
using Esb.Configuration;
using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Esb.Workflows.Workflows.Running;

namespace Esb.Workflows.Processes.Holding;

/// <summary>Stores messages at steps that hold them, and passes on what continues at once. Thread-safe.</summary>
internal sealed class Holder(IHeldMessages store, OutboxPublisher outbox, IAuditTrail audit, Live<LimitsConfig> limits, TimeProvider time)
    : IAsyncDisposable
{
    private readonly GroupCommit<PassedMessage, SequenceChange> _passes = new(
        group => store.PassAsync(group, CancellationToken.None),
        StoreRefusal.Is,
        sizeOf: passed => passed.Held.Message.Body.Bytes.Length
    );
    private readonly GroupCommit<GroupedMessage, GroupChange> _joins = new(
        group => store.AddToGroupsAsync(group, CancellationToken.None),
        StoreRefusal.Is,
        sizeOf: message => message.Held.Message.Body.Bytes.Length
    );
    private Action<StoredTimer>? _fire;

    public IHeldMessages Store => store;

    /// <summary>Receives timers that this host has stored for itself.</summary>
    public void FiresBy(Action<StoredTimer> fire) => _fire = fire;

    /// <summary>The message as it is stored: with the place and the properties with which it continues.</summary>
    /// <param name="context">The message in its process.</param>
    /// <param name="place">The id or the path of the step.</param>
    /// <param name="line">What is kept together at the step; also its order key from here on.</param>
    /// <param name="key">The order key of the message from here on.</param>
    /// <param name="cancellationToken">Cancels reading the body.</param>
    public async ValueTask<HeldMessage> PrepareAsync(
        MessageContext context,
        string place,
        string line,
        string key,
        CancellationToken cancellationToken
    )
    {
        if (context.UnitOfWork is not null)
            throw new EsbException(
                "ESB-HOLD-PLACE",
                $"The step {place} cannot hold the message inside of a transaction.",
                FaultKind.Internal
            );
        await context.Message.Body.BufferAsync(4 * limits.Current.MaxBodySize.Bytes, cancellationToken);
        var state = new HeldState(context.Process, place, context.Properties);
        var step = HeldMessage.StepOf(context.Process, place);
        var message = state.On(context.Message with { Id = context.HeldId, Key = key, Attempt = 0 });
        return new HeldMessage(step, LineOf(step, line), message, context.Endpoint, Activity.Current?.Context ?? default);
    }

    /// <summary>Ends the process here, once the message is stored, and records it.</summary>
    /// <param name="context">The message in its process.</param>
    /// <param name="place">The id or the path of the step.</param>
    /// <param name="name">Name of the fact: <c>aggregated</c>, <c>resequenced</c>, <c>delayed</c>.</param>
    /// <param name="isKnown">True if the step has held the message before.</param>
    /// <param name="group">The message that it becomes a part of; null if it stays itself.</param>
    public async ValueTask EndAsync(MessageContext context, string place, string name, bool isKnown, Guid? group = null)
    {
        context.Outcome = ProcessOutcome.Held;
        var fact = AuditFacts.Of(context.Received, isKnown ? AuditKind.Duplicate : AuditKind.Recorded, time) with
        {
            Name = name,
            Endpoint = context.Endpoint,
            Process = context.Process,
            Step = place,
            Fields = group is { } id ? new Dictionary<string, string> { ["group"] = id.ToString() } : new Dictionary<string, string>(),
        };
        await audit.RecordAsync(fact, CancellationToken.None);
    }

    /// <summary>Stores a message that continues at once, and sends it.</summary>
    /// <returns>True if the step has held the message before.</returns>
    public async Task<bool> PassAsync(PassedMessage message)
    {
        var change = await _passes.CommitAsync(message);
        Send(change);
        return change.IsKnown;
    }

    /// <summary>Stores a message in its group, and releases the group if it is complete.</summary>
    /// <returns>The change of the group.</returns>
    public async Task<GroupChange> JoinAsync(GroupedMessage message)
    {
        var change = await _joins.CommitAsync(message);
        if (change.Release is { } release)
            _fire?.Invoke(release); // without it, the dispatcher takes it up when its claim is over
        return change;
    }

    /// <summary>Sends what a change has put into the outbox.</summary>
    public void Send(SequenceChange change) => outbox.Publish(change.Released, change.FollowsUnpublished);

    /// <summary>Sends a message that a change has put into the outbox.</summary>
    public void Send(OutboxMessage message, bool followsUnpublished) => outbox.Publish([message], followsUnpublished);

    public async ValueTask DisposeAsync()
    {
        await Task.WhenAll(_passes.DisposeAsync().AsTask(), _joins.DisposeAsync().AsTask());
    }

    private static string LineOf(string step, string key) =>
        Convert.ToHexStringLower(SHA256.HashData(Encoding.UTF8.GetBytes($"{step}\n{key}")));
}
