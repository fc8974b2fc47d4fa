using System.Collections.ObjectModel;
using Esb.Core.Audit;
using Esb.Core.Messages;
using Esb.Core.Processes.Tracing;

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

    /// <summary>A step keeps the message in the store; the steps behind it run later, perhaps on another host.</summary>
    Held,
}

/// <summary>A message in a process, with the values that steps pass to one another. Used by one step at a time; not thread-safe.</summary>
public sealed class MessageContext
{
    /// <summary>Property that holds the status code of an HTTP answer.</summary>
    public const string StatusProperty = "status";

    private EsbMessage _message;
    private IReadOnlyDictionary<string, object>? _properties;
    private Dictionary<string, object>? _own; // the same as the properties, unless others share them
    private object? _status; // instead of properties, where there is no other: most processes need none
    private List<Task>? _settling;
    private Guid? _published;
    private Guid? _part;
    private string? _firstCall;
    private int _firstCalls;
    private Dictionary<string, int>? _calls; // only for a second name: most messages make one call
    private int _copies;
    private StepLog? _steps;

    /// <summary>Begins to work on a message.</summary>
    /// <param name="message">The message as received. The properties that it brings become those of the context, and leave the message:
    /// what is published does not have them, whatever the transport.</param>
    /// <param name="endpoint">The endpoint that received it.</param>
    public MessageContext(EsbMessage message, string endpoint)
    {
        Endpoint = endpoint;
        _properties = message.Properties;
        HasTakenValues = _properties is { Count: > 0 };
        Sequence = message.Sequence;
        NumberedId = message.Id;
        Received = _message = message is { Properties: null, Request: null, Sequence: null }
            ? message
            : message with
            {
                Properties = null,
                Request = null,
                Sequence = null,
            };
    }

    /// <summary>The message; steps replace it. Its masked content stays masked in texts, because a property may still hold it.</summary>
    public EsbMessage Message
    {
        get => _message;
        set
        {
            if (HasTakenValues)
                MaskedFlow.Keep();
            _message = value;
        }
    }

    /// <summary>True if a property was set that may hold content of a message; the status of an answer does not.</summary>
    public bool HasTakenValues { get; private set; }

    /// <summary>The message as received, to which audit facts of the process belong.</summary>
    public EsbMessage Received { get; }

    /// <summary>The endpoint that received it.</summary>
    public string Endpoint { get; }

    /// <summary>True if an outbound endpoint runs the process on a message delivered to it. Other endpoints may have received the same
    /// message: the ids of messages made by the process then also depend on the endpoint.</summary>
    public bool IsDelivered { get; init; }

    /// <summary>True if a caller waits for the message at the end of the process.</summary>
    public bool IsRequest { get; init; }

    /// <summary>The running process.</summary>
    public string Process { get; set; } = "";

    /// <summary>The innermost failed step: its id, or its path; null if none failed, or if the failure was caught.</summary>
    public string? FailedStep { get; set; }

    /// <summary>Log of the steps, if the audit records them; otherwise null.</summary>
    public StepLog? Steps
    {
        get => _steps;
        init => _steps = value;
    }

    /// <summary>Follows the message for a trace; null unless an operator traces.</summary>
    public MessageFollower? Follower { get; set; }

    /// <summary>The first message published here, after its confirmation; null before, and if nothing was published.</summary>
    public FirstPublish? FirstPublish { get; private set; }

    /// <summary>The last output of a map; null if none.</summary>
    public MadeBody? Made { get; set; }

    /// <summary>Files of a decoded archive, or further parts of a decoded MIME body, for later steps; null if nothing was
    /// decoded.</summary>
    public IReadOnlyList<MessageEntry>? Entries { get; set; }

    /// <summary>The party whose signature a step verified; null if none. It counts where the transport proved none.</summary>
    public string? ProvenParty { get; set; }

    /// <summary>The number of the received message at the endpoint, from 1; null unless something in the process needs it.</summary>
    public long? Sequence { get; set; }

    /// <summary>The message to which the number belongs: the received one, or that which an answer is to.</summary>
    public Guid NumberedId { get; init; }

    /// <summary>The earlier message of which this one is a repetition: the sender gets its id. Null if it is none.</summary>
    public Guid? AnsweredAs { get; set; }

    /// <summary>What waits for the end of the outermost process; null if nothing in it does.</summary>
    public ProcessEnd? End { get; set; }

    /// <summary>Indicates whether a step ended the process.</summary>
    public ProcessOutcome Outcome { get; set; }

    /// <summary>The transaction of the process: its publishes, and its calls on the same database, join it. Null outside a
    /// transaction.</summary>
    public IUnitOfWork? UnitOfWork { get; set; }

    /// <summary>Takes what is published, outside a transaction: it is published with a later commit. Null if it is published at
    /// once.</summary>
    public IMessageOutbox? Outbox { get; set; }

    /// <summary>The variables of the workflow's instance; null outside a workflow.</summary>
    public IProcessVariables? Variables { get; init; }

    /// <summary>The id from which the ids of messages derive that a step of a workflow makes: instance, step and visit. Null outside a
    /// workflow.</summary>
    public Guid? Origin { get; init; }

    /// <summary>Completes when all messages published here have been settled by every subscriber, if the transport is not
    /// durable.</summary>
    public Task Settled => _settling is null ? Task.CompletedTask : Task.WhenAll(_settling);

    /// <summary>True if all messages published so far have been settled by every subscriber, or the transport is durable.</summary>
    public bool HasSettled
    {
        get
        {
            _settling?.RemoveAll(settled => settled.IsCompletedSuccessfully);
            return _settling is null or { Count: 0 };
        }
    }

    /// <summary>All properties set by earlier steps. A view: valid until the next change.</summary>
    public IReadOnlyDictionary<string, object> Properties => AllProperties() ?? ReadOnlyDictionary<string, object>.Empty;

    /// <summary>A property set by an earlier step; null if none. Names are case-sensitive.</summary>
    public object? GetProperty(string name) =>
        name == StatusProperty && _status is not null ? _status : _properties?.GetValueOrDefault(name);

    /// <summary>Sets a property for later steps; null removes it.</summary>
    public void SetProperty(string name, object? value)
    {
        if (name == StatusProperty && _properties is null)
            _status = value;
        else if (value is not null)
            Own()[name] = value;
        else if (AllProperties()?.ContainsKey(name) == true)
            Own().Remove(name);
        HasTakenValues |= value is not null && (name != StatusProperty || value is string);
    }

    /// <summary>The message with the properties of the process, for an endpoint that is called on this host. Later changes of the
    /// properties do not reach it.</summary>
    /// <param name="message">The message that is sent.</param>
    public EsbMessage WithProperties(EsbMessage message)
    {
        if (AllProperties() is not { Count: > 0 })
            return message;
        _own = null; // shared from here on
        return message with { Properties = _properties };
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
        var id =
            Origin is { } origin ? MessageIds.Derive(_part ?? origin, $"publish {step} {_copies++}")
            : _published is { } before ? MessageIds.Derive(before, step)
            : _part is { } part ? part
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
        var calls = CountCall(endpoint);
        if (IsDelivered)
            return MessageIds.Derive(Message.Id, $"{Endpoint} {step} {calls}");
        if (Origin is { } origin)
            return MessageIds.Derive(_part ?? origin, $"call {endpoint} {step} {calls}");
        return calls == 0 ? Message.Id : MessageIds.Derive(Message.Id, $"{step} {calls}");
    }

    /// <summary>Returns the id of a copy of the message: its own, and equal at every repetition.</summary>
    /// <param name="step">Position of the copying step in its process.</param>
    public Guid NextCopyId(string step) =>
        MessageIds.Derive(_part ?? Origin ?? Received.Id, IsDelivered ? $"copy {Endpoint} {step} {_copies++}" : $"copy {step} {_copies++}");

    /// <summary>The id under which a step keeps the message in the store: that of the received message, or of the part; equal at every
    /// repetition.</summary>
    public Guid HeldId => _part ?? Received.Id;

    /// <summary>Names the next division of the message into parts: the step, and a number if the step has divided it before.</summary>
    /// <param name="step">Position of the dividing step in its process.</param>
    public string NextDivision(string step)
    {
        var division = PeekDivision(step);
        CountCall($"split {step}");
        return division;
    }

    /// <summary>The name that the next division of the message by a step gets.</summary>
    /// <param name="step">Position of the dividing step in its process.</param>
    public string PeekDivision(string step)
    {
        var division = $"split {step}";
        var before =
            _calls is not null ? _calls.GetValueOrDefault(division)
            : _firstCall == division ? _firstCalls
            : 0;
        return before == 0 ? division : $"{division} {before}";
    }

    /// <summary>Returns the id of a part of the message: its own, and equal at every repetition.</summary>
    /// <param name="division">Name of the division (<see cref="NextDivision"/>).</param>
    /// <param name="number">Number of the part, from 0.</param>
    public Guid PartId(string division, int number) =>
        MessageIds.Derive(_part ?? Origin ?? Received.Id, IsDelivered ? $"{Endpoint} {division} {number}" : $"{division} {number}");

    /// <summary>Returns a context for a part of the message, with a copy of the properties. The first message that it publishes keeps the
    /// id of the part.</summary>
    /// <param name="part">The part, as a message.</param>
    public MessageContext ForPart(EsbMessage part)
    {
        var context = (MessageContext)MemberwiseClone();
        (context._message, context._part) = (part, part.Id);
        context._properties = context._own = AllProperties() is { } properties ? new Dictionary<string, object>(properties) : null;
        context._status = null;
        (context._settling, context._published, context._calls, context._copies) = (null, null, null, 0);
        (context._firstCall, context._firstCalls) = (null, 0);
        (context.FirstPublish, context.FailedStep, context.Made, context.Outcome) = (null, null, null, ProcessOutcome.Running);
        context.Entries = null;
        return context;
    }

    /// <summary>As <see cref="ForPart"/>, for a part whose steps run while those of other parts run: it has a log of its own.</summary>
    /// <param name="part">The part, as a message.</param>
    public MessageContext ForBranch(EsbMessage part)
    {
        var context = ForPart(part);
        context._steps = _steps?.Branch();
        return context;
    }

    /// <summary>Takes over the publishes of a part: when they were confirmed, and when they are settled.</summary>
    /// <param name="part">A context of <see cref="ForPart"/> or <see cref="ForBranch"/>, which has ended.</param>
    public void Join(MessageContext part)
    {
        if (part._steps is { } log && log != _steps)
            _steps?.Add(log);
        if (part.FirstPublish is { } publish)
            NotePublished(publish);
        if (part._settling is { } settling)
            (_settling ??= []).AddRange(settling);
    }

    /// <summary>Notes that a message was confirmed, or joined a transaction; only the first counts.</summary>
    public void NotePublished(FirstPublish publish) => FirstPublish ??= publish;

    /// <summary>Reverts later notes, with the transaction to which they belonged.</summary>
    /// <param name="before">Value of <see cref="FirstPublish"/> before the transaction.</param>
    public void RestorePublished(FirstPublish? before) => FirstPublish = before;

    /// <summary>Adds a task to <see cref="Settled"/>.</summary>
    public void AwaitSettled(Task settled)
    {
        if (!settled.IsCompletedSuccessfully)
            (_settling ??= []).Add(settled);
    }

    // Returns how often a name was counted before.
    private int CountCall(string name)
    {
        if (_calls is null)
        {
            if (_firstCall is null || _firstCall == name)
            {
                _firstCall = name;
                return _firstCalls++;
            }

            _calls = new Dictionary<string, int> { [_firstCall] = _firstCalls };
        }

        var before = _calls.GetValueOrDefault(name);
        _calls[name] = before + 1;
        return before;
    }

    private IReadOnlyDictionary<string, object>? AllProperties() => _status is null ? _properties : Own();

    private Dictionary<string, object> Own()
    {
        if (_own is null)
            _properties = _own = _properties is null ? [] : new Dictionary<string, object>(_properties);
        if (_status is { } status)
            (_own[StatusProperty], _status) = (status, null);
        return _own;
    }
}
