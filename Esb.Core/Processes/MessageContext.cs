using Esb.Core.Audit;
using Esb.Core.Messages;

namespace Esb.Core.Processes;

/// <summary>How a process stands with a message.</summary>
public enum ProcessOutcome
{
    /// <summary>It goes on, or came to its end.</summary>
    Running,

    /// <summary>A filter ended it: nobody wants the message.</summary>
    Filtered,

    /// <summary>It made its answer and ended.</summary>
    Responded,
}

/// <summary>A message on its way through a process, with what the steps leave for one another. Used by one step at a time; not thread-safe.</summary>
/// <param name="message">The message as it came in.</param>
/// <param name="endpoint">The endpoint it came in by.</param>
public sealed class MessageContext(EsbMessage message, string endpoint)
{
    /// <summary>The property under which the status code of an HTTP answer travels.</summary>
    public const string StatusProperty = "status";

    private EsbMessage _message = message;
    private Dictionary<string, object>? _properties;
    private List<Task>? _settling;
    private Guid? _published;
    private Dictionary<string, int>? _calls;
    private int _copies;

    /// <summary>The message; steps replace it. What is masked in it stays so in texts, because a property may still hold it.</summary>
    public EsbMessage Message
    {
        get => _message;
        set
        {
            if (HasTakenValues) MaskedFlow.Keep();
            _message = value;
        }
    }

    /// <summary>Whether a property was set that may hold something of a message; the status of an answer does not.</summary>
    public bool HasTakenValues { get; private set; }

    /// <summary>The message as it came in: what audit facts of the process belong to.</summary>
    public EsbMessage Received { get; } = message;

    /// <summary>The endpoint it came in by.</summary>
    public string Endpoint { get; } = endpoint;

    /// <summary>Whether an outbound endpoint runs the process on what was delivered to it. Others may have got the same message: what the
    /// process makes of it has
    /// ids that follow from the endpoint too.</summary>
    public bool IsDelivered { get; init; }

    /// <summary>The process that runs.</summary>
    public string Process { get; set; } = "";

    /// <summary>The innermost step that failed: its id, or where it stands; null where none did, or where that was caught.</summary>
    public string? FailedStep { get; set; }

    /// <summary>What the steps did, where the audit wants to know; null otherwise.</summary>
    public StepLog? Steps { get; init; }

    /// <summary>The first message that was published here, once it was confirmed; null before, and where nothing was.</summary>
    public FirstPublish? FirstPublish { get; private set; }

    /// <summary>What a map made last; null where none made anything.</summary>
    public MadeBody? Made { get; set; }

    /// <summary>Whether a step ended the process.</summary>
    public ProcessOutcome Outcome { get; set; }

    /// <summary>The transaction that the process is in: what it publishes, and what it calls on the same database, become a part of it. Null outside of one.</summary>
    public IUnitOfWork? UnitOfWork { get; set; }

    /// <summary>Completes when all that was published here has been settled at every subscriber, where the transport is not durable.</summary>
    public Task Settled => _settling is null ? Task.CompletedTask : Task.WhenAll(_settling);

    /// <summary>A property that an earlier step set; null where none did. Names are case-sensitive.</summary>
    public object? GetProperty(string name) => _properties?.GetValueOrDefault(name);

    /// <summary>Sets a property for later steps; null removes it.</summary>
    public void SetProperty(string name, object? value)
    {
        if (value is null) _properties?.Remove(name);
        else (_properties ??= [])[name] = value;
        HasTakenValues |= value is not null && (name != StatusProperty || value is string);
    }

    /// <summary>The same context with another message, for whoever reads values as that one has them. Nothing is to be set on it.</summary>
    /// <param name="message">The message.</param>
    public MessageContext Showing(EsbMessage message)
    {
        var shown = (MessageContext)MemberwiseClone();
        shown._message = message;
        return shown;
    }

    /// <summary>The id for the next message that the process publishes: the first keeps the id of the message that came in, each further
    /// one, and each of a message that was
    /// delivered, has its own, the same at every repetition.</summary>
    /// <param name="step">The place of the publishing step in its process.</param>
    public Guid NextPublishId(string step)
    {
        var id = _published is { } before ? MessageIds.Derive(before, step)
            : IsDelivered ? MessageIds.Derive(Received.Id, $"{Endpoint} {step}")
            : Received.Id;
        _published = id;
        return id;
    }

    /// <summary>The id under which the process calls an endpoint: the first call keeps the message's, each further one of the same
    /// endpoint, and each of a message that was
    /// delivered, has its own, the same at every repetition.</summary>
    /// <param name="endpoint">The endpoint's name.</param>
    /// <param name="step">The place of the calling step in its process.</param>
    public Guid NextCallId(string endpoint, string step)
    {
        var calls = (_calls ??= []).GetValueOrDefault(endpoint);
        _calls[endpoint] = calls + 1;
        if (IsDelivered) return MessageIds.Derive(Message.Id, $"{Endpoint} {step} {calls}");
        return calls == 0 ? Message.Id : MessageIds.Derive(Message.Id, $"{step} {calls}");
    }

    /// <summary>The id of a copy of the message, its own and the same at every repetition.</summary>
    /// <param name="step">The place of the copying step in its process.</param>
    public Guid NextCopyId(string step) => MessageIds.Derive(Received.Id, IsDelivered ? $"copy {Endpoint} {step} {_copies++}" : $"copy {step} {_copies++}");

    /// <summary>Says that a message was confirmed, or became a part of a transaction; only the first counts.</summary>
    public void NotePublished(FirstPublish publish) => FirstPublish ??= publish;

    /// <summary>Takes back what was noted since, with the transaction that it was a part of.</summary>
    /// <param name="before">What <see cref="FirstPublish"/> was before the transaction.</param>
    public void RestorePublished(FirstPublish? before) => FirstPublish = before;

    /// <summary>Adds to what <see cref="Settled"/> waits for.</summary>
    public void AwaitSettled(Task settled)
    {
        if (!settled.IsCompletedSuccessfully) (_settling ??= []).Add(settled);
    }
}
