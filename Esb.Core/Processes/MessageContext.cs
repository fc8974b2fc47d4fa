using Esb.Core.Audit;
using Esb.Core.Messages;

namespace Esb.Core.Processes;

/// <summary>State of a process for a message.</summary>
public enum ProcessOutcome
{
    /// <summary>It is running, or has reached its end.</summary>
    Running,

    /// <summary>A filter ended it: the message is not wanted.</summary>
    Filtered,

    /// <summary>It has made its answer and ended.</summary>
    Responded,
}

/// <summary>A message in a process, with the values that steps pass to one another. Used by one step at a time; not thread-safe.</summary>
/// <param name="message">The message as received.</param>
/// <param name="endpoint">The endpoint that received it.</param>
public sealed class MessageContext(EsbMessage message, string endpoint)
{
    /// <summary>Property that holds the status code of an HTTP answer.</summary>
    public const string StatusProperty = "status";

    private EsbMessage _message = message;
    private Dictionary<string, object>? _properties;
    private List<Task>? _settling;
    private Guid? _published;
    private Dictionary<string, int>? _calls;
    private int _copies;

    /// <summary>The message; steps replace it. Its masked content stays masked in texts, because a property may still hold it.</summary>
    public EsbMessage Message
    {
        get => _message;
        set
        {
            if (HasTakenValues) MaskedFlow.Keep();
            _message = value;
        }
    }

    /// <summary>True if a property was set that may hold content of a message; the status of an answer does not.</summary>
    public bool HasTakenValues { get; private set; }

    /// <summary>The message as received, to which audit facts of the process belong.</summary>
    public EsbMessage Received { get; } = message;

    /// <summary>The endpoint that received it.</summary>
    public string Endpoint { get; } = endpoint;

    /// <summary>True if an outbound endpoint runs the process on a message delivered to it. Other endpoints may have received the same
    /// message: the ids of messages made by the process then also depend on the endpoint.</summary>
    public bool IsDelivered { get; init; }

    /// <summary>The running process.</summary>
    public string Process { get; set; } = "";

    /// <summary>The innermost failed step: its id, or its path; null if none failed, or if the failure was caught.</summary>
    public string? FailedStep { get; set; }

    /// <summary>Log of the steps, if the audit records them; otherwise null.</summary>
    public StepLog? Steps { get; init; }

    /// <summary>The first message published here, after its confirmation; null before, and if nothing was published.</summary>
    public FirstPublish? FirstPublish { get; private set; }

    /// <summary>The last output of a map; null if none.</summary>
    public MadeBody? Made { get; set; }

    /// <summary>Indicates whether a step ended the process.</summary>
    public ProcessOutcome Outcome { get; set; }

    /// <summary>The transaction of the process: its publishes, and its calls on the same database, join it. Null outside a
    /// transaction.</summary>
    public IUnitOfWork? UnitOfWork { get; set; }

    /// <summary>Completes when all messages published here have been settled by every subscriber, if the transport is not
    /// durable.</summary>
    public Task Settled => _settling is null ? Task.CompletedTask : Task.WhenAll(_settling);

    /// <summary>A property set by an earlier step; null if none. Names are case-sensitive.</summary>
    public object? GetProperty(string name) => _properties?.GetValueOrDefault(name);

    /// <summary>Sets a property for later steps; null removes it.</summary>
    public void SetProperty(string name, object? value)
    {
        if (value is null) _properties?.Remove(name);
        else (_properties ??= [])[name] = value;
        HasTakenValues |= value is not null && (name != StatusProperty || value is string);
    }

    /// <summary>The same context with another message, for evaluating values on that message. It must not be modified.</summary>
    /// <param name="message">The message.</param>
    public MessageContext Showing(EsbMessage message)
    {
        var shown = (MessageContext)MemberwiseClone();
        shown._message = message;
        return shown;
    }

    /// <summary>Returns the id for the next message that the process publishes. The first keeps the id of the received message; each
    /// further one, and each one made from a delivered message, has its own id, equal at every repetition.</summary>
    /// <param name="step">Position of the publishing step in its process.</param>
    public Guid NextPublishId(string step)
    {
        var id = _published is { } before ? MessageIds.Derive(before, step)
            : IsDelivered ? MessageIds.Derive(Received.Id, $"{Endpoint} {step}")
            : Received.Id;
        _published = id;
        return id;
    }

    /// <summary>Returns the id under which the process calls an endpoint. The first call keeps the message's id; each further call of the
    /// same endpoint, and each one for a delivered message, has its own id, equal at every repetition.</summary>
    /// <param name="endpoint">The endpoint's name.</param>
    /// <param name="step">Position of the calling step in its process.</param>
    public Guid NextCallId(string endpoint, string step)
    {
        var calls = (_calls ??= []).GetValueOrDefault(endpoint);
        _calls[endpoint] = calls + 1;
        if (IsDelivered) return MessageIds.Derive(Message.Id, $"{Endpoint} {step} {calls}");
        return calls == 0 ? Message.Id : MessageIds.Derive(Message.Id, $"{step} {calls}");
    }

    /// <summary>Returns the id of a copy of the message: its own, and equal at every repetition.</summary>
    /// <param name="step">Position of the copying step in its process.</param>
    public Guid NextCopyId(string step) => MessageIds.Derive(Received.Id, IsDelivered ? $"copy {Endpoint} {step} {_copies++}" : $"copy {step} {_copies++}");

    /// <summary>Notes that a message was confirmed, or joined a transaction; only the first counts.</summary>
    public void NotePublished(FirstPublish publish) => FirstPublish ??= publish;

    /// <summary>Reverts later notes, with the transaction to which they belonged.</summary>
    /// <param name="before">Value of <see cref="FirstPublish"/> before the transaction.</param>
    public void RestorePublished(FirstPublish? before) => FirstPublish = before;

    /// <summary>Adds a task to <see cref="Settled"/>.</summary>
    public void AwaitSettled(Task settled)
    {
        if (!settled.IsCompletedSuccessfully) (_settling ??= []).Add(settled);
    }
}
