using System.Diagnostics;
using Esb.Core.Itineraries;
using Esb.Core.Messages;

namespace Esb.Core.Storage;

/// <summary>A message that a step of a process keeps. Immutable.</summary>
/// <param name="Step">Process and step, as one text (<see cref="StepOf"/>).</param>
/// <param name="Line">Hash of the step and the key: messages of one line are kept together, and in their order.</param>
/// <param name="Message">The message, with what it needs to continue (<see cref="Processes.HeldState"/>).</param>
/// <param name="Endpoint">The endpoint at which its process was entered.</param>
/// <param name="Parent">The trace of the message; default if none.</param>
public sealed record HeldMessage(string Step, string Line, EsbMessage Message, string Endpoint, ActivityContext Parent)
{
    private const char Separator = '\n';

    /// <summary>The text for a step of a process.</summary>
    public static string StepOf(string process, string place) => $"{process}{Separator}{place}";

    /// <summary>The process and the place of a step.</summary>
    public static (string Process, string Place) Read(string step) =>
        step.Split(Separator, 2) is [var process, var place] ? (process, place) : (step, "");
}

/// <summary>When a group is complete.</summary>
/// <param name="Expected">Number of messages, as this message says; null if it does not say.</param>
/// <param name="IsLast">True if this message completes the group.</param>
/// <param name="MaxItems">Number of messages at which the group is released as it is.</param>
/// <param name="MaxSize">Size of all bodies, in bytes, at which the group is released as it is.</param>
/// <param name="Idle">Time without a message after which the group is released; null for no limit.</param>
/// <param name="Within">Time from the first message after which the group is released; null for no limit.</param>
public sealed record GroupRule(long? Expected, bool IsLast, int MaxItems, long MaxSize, TimeSpan? Idle, TimeSpan? Within);

/// <summary>A message for a group.</summary>
/// <param name="Held">The message.</param>
/// <param name="Rule">The rule that ends its group.</param>
public sealed record GroupedMessage(HeldMessage Held, GroupRule Rule);

/// <summary>What a message has done to its group.</summary>
/// <param name="Group">The group; empty if the message is known.</param>
/// <param name="IsKnown">True if the step has held the message before: nothing is changed.</param>
/// <param name="Release">The timer that releases the group, claimed by this host, if the message has completed it; otherwise null.</param>
public sealed record GroupChange(Guid Group, bool IsKnown, StoredTimer? Release)
{
    /// <summary>Nothing is changed: the message is known.</summary>
    public static readonly GroupChange Known = new(Guid.Empty, IsKnown: true, Release: null);
}

/// <summary>What a message has done to its sequence.</summary>
/// <param name="IsKnown">True if the step has held the message before: nothing is changed.</param>
/// <param name="IsFull">True if too many messages wait already: nothing is changed.</param>
/// <param name="Released">The messages that continue, in their order, as stored in the outbox.</param>
/// <param name="FollowsUnpublished">True if the outbox has earlier messages of the line.</param>
public sealed record SequenceChange(bool IsKnown, bool IsFull, IReadOnlyList<OutboxMessage> Released, bool FollowsUnpublished)
{
    /// <summary>Nothing is changed: the message is known.</summary>
    public static readonly SequenceChange Known = new(IsKnown: true, IsFull: false, [], FollowsUnpublished: false);
}

/// <summary>Messages that wait at a step.</summary>
/// <param name="Step">Process and step, as one text (<see cref="HeldMessage.StepOf"/>).</param>
/// <param name="Count">Their number.</param>
/// <param name="Lines">The number of keys or groups.</param>
/// <param name="Oldest">When the oldest was stored.</param>
public sealed record HeldCount(string Step, long Count, long Lines, DateTimeOffset Oldest);

/// <summary>Kinds of the timers of held messages. The target of each is a line.</summary>
public static class HeldTimers
{
    /// <summary>The time of a group is over. Data: the group.</summary>
    public const string Group = "held.group";

    /// <summary>A group is complete. Data: the group, and the reason, with a blank between.</summary>
    public const string Release = "held.release";

    /// <summary>A message of a sequence is late. Data: its number.</summary>
    public const string Gap = "held.gap";

    /// <summary>The delay of a message is over.</summary>
    public const string Delay = "held.delay";

    /// <summary>All kinds.</summary>
    public static readonly IReadOnlyList<string> All = [Group, Release, Gap, Delay];
}

/// <summary>Messages that steps of processes keep, as long as they wait. Each change is one transaction, with the timers and the outbox in
/// it. A message is held once at a step; its id is remembered for seven days. Thread-safe.</summary>
/// <remarks>All methods throw <see cref="Errors.EsbException"/>: <c>ESB-STORE-AWAY</c>, <c>ESB-STORE-WRITE</c>.</remarks>
public interface IHeldMessages
{
    /// <summary>Adds messages, in their order, each to the open group of its line, or to one that it begins: all in one commit.</summary>
    /// <param name="messages">The messages, of any lines.</param>
    /// <param name="cancellationToken">Cancels the operation.</param>
    /// <returns>A change for each message, in their order.</returns>
    Task<IReadOnlyList<GroupChange>> AddToGroupsAsync(IReadOnlyList<GroupedMessage> messages, CancellationToken cancellationToken);

    /// <summary>Closes a group whose time is over.</summary>
    /// <param name="timer">The timer that fired; it must still be due.</param>
    /// <param name="reason">Kept for the release.</param>
    /// <param name="cancellationToken">Cancels the operation.</param>
    /// <returns>The timer that releases it; null if the group is closed already, or its time was extended.</returns>
    Task<StoredTimer?> CloseGroupAsync(StoredTimer timer, string reason, CancellationToken cancellationToken);

    /// <summary>The messages of a group, in the order in which they were stored.</summary>
    Task<IReadOnlyList<HeldMessage>> ReadGroupAsync(Guid group, CancellationToken cancellationToken);

    /// <summary>Ends a closed group.</summary>
    /// <param name="timer">The timer of the release; it must still be there.</param>
    /// <param name="group">The group.</param>
    /// <param name="outgoing">The message that it became; null if it became a dead letter.</param>
    /// <param name="cancellationToken">Cancels the operation.</param>
    /// <returns>Null if another host has ended it; otherwise true if the outbox has earlier messages of the line.</returns>
    Task<bool?> EndGroupAsync(Guid timer, Guid group, OutboxMessage? outgoing, CancellationToken cancellationToken);

    /// <summary>Adds a message to a sequence: it continues with those that follow it, or waits for those before it.</summary>
    /// <param name="message">The message.</param>
    /// <param name="sequence">Its number.</param>
    /// <param name="start">The number at which the sequence begins.</param>
    /// <param name="within">How long it waits for a gap; null without limit.</param>
    /// <param name="maxPending">Messages that may wait.</param>
    /// <param name="queue">The queue in which released messages continue.</param>
    /// <param name="cancellationToken">Cancels the operation.</param>
    Task<SequenceChange> AddToSequenceAsync(
        HeldMessage message,
        long sequence,
        long start,
        TimeSpan? within,
        int maxPending,
        string queue,
        CancellationToken cancellationToken
    );

    /// <summary>The waiting messages of a sequence, in their order.</summary>
    Task<IReadOnlyList<HeldMessage>> ReadSequenceAsync(string line, CancellationToken cancellationToken);

    /// <summary>Gives a gap in a sequence up.</summary>
    /// <param name="timer">The timer that fired; it must still be due.</param>
    /// <param name="within">How long the next gap is waited for.</param>
    /// <param name="queue">The queue in which the waiting messages continue up to the next gap; null if all waiting messages have become
    /// dead letters.</param>
    /// <param name="cancellationToken">Cancels the operation.</param>
    Task<SequenceChange> PassGapAsync(StoredTimer timer, TimeSpan? within, string? queue, CancellationToken cancellationToken);

    /// <summary>Keeps a message until a time.</summary>
    /// <param name="message">The message.</param>
    /// <param name="delay">Time from the commit; null for <paramref name="until"/>.</param>
    /// <param name="until">The instant.</param>
    /// <param name="cancellationToken">Cancels the operation.</param>
    /// <returns>False if the step has held the message before.</returns>
    Task<bool> HoldUntilAsync(HeldMessage message, TimeSpan? delay, DateTimeOffset? until, CancellationToken cancellationToken);

    /// <summary>Releases the messages of a line whose time is over, in the order of their times.</summary>
    /// <param name="timer">The timer that fired.</param>
    /// <param name="queue">The queue in which they continue.</param>
    /// <param name="cancellationToken">Cancels the operation.</param>
    Task<SequenceChange> ReleaseDueAsync(StoredTimer timer, string queue, CancellationToken cancellationToken);

    /// <summary>Stores messages of itineraries that continue at once, and where they are, in one commit.</summary>
    /// <param name="messages">The messages.</param>
    /// <param name="cancellationToken">Cancels the operation.</param>
    /// <returns>A change for each message, in their order.</returns>
    Task<IReadOnlyList<SequenceChange>> PassAsync(IReadOnlyList<PassedMessage> messages, CancellationToken cancellationToken);

    /// <summary>The messages that wait, by step.</summary>
    Task<IReadOnlyList<HeldCount>> CountAsync(CancellationToken cancellationToken);

    /// <summary>Forgets the ids of messages after seven days, and sequences without a message for a year.</summary>
    Task RemoveOldAsync(CancellationToken cancellationToken);
}

/// <summary>A message of an itinerary that continues at once.</summary>
/// <param name="Held">The message.</param>
/// <param name="Queue">The queue in which it continues.</param>
/// <param name="Run">Where it is from now on.</param>
public sealed record PassedMessage(HeldMessage Held, string Queue, ItineraryRun Run);

/// <summary>Reasons for which a group was released, as its messages tell.</summary>
public static class GroupReasons
{
    /// <summary>All its messages have come.</summary>
    public const string Complete = "complete";

    /// <summary>Its time was over.</summary>
    public const string Time = "time";

    /// <summary>It had as many messages, or bytes, as a group may have.</summary>
    public const string Full = "full";
}
