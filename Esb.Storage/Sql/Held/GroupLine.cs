using Esb.Core.Messages;
using Esb.Core.Storage;

namespace Esb.Storage.Sql.Held;

/// <summary>A line while messages are added to its open group, within a transaction. Not thread-safe.</summary>
/// <param name="line">The line.</param>
/// <param name="step">Process and step.</param>
/// <param name="stored">The group that is open in the store; null without.</param>
internal sealed class GroupLine(string line, string step, OpenGroup? stored)
{
    private readonly OpenGroup? _stored = stored;
    private readonly Dictionary<Guid, StoredTimer> _timers = [];
    private readonly List<Guid> _endedTimers = [];

    public string Line => line;

    public string Step => step;

    /// <summary>The group that is open now; null without.</summary>
    public OpenGroup? Open { get; private set; } = stored;

    public IEnumerable<StoredTimer> Timers => _timers.Values;

    public IEnumerable<Guid> EndedTimers => _endedTimers;

    /// <summary>Adds a message.</summary>
    public GroupChange Add(GroupedMessage message)
    {
        var (held, rule) = message;
        var before = Open ?? new OpenGroup(MessageIds.Derive(held.Message.Id, $"group {held.Step}"), 0, 0, null);
        var group = new OpenGroup(
            before.Id,
            before.Count + 1,
            before.Size + held.Message.Body.Bytes.Length,
            rule.Expected ?? before.Expected
        );
        var isComplete = rule.IsLast || group.Count >= group.Expected;
        if (!isComplete && group.Count < rule.MaxItems && group.Size < rule.MaxSize)
        {
            Open = group;
            if (rule.Idle is { } idle)
                Set(TimerOf(IdleOf(group.Id), group.Id, idle));
            if (group.Count == 1 && rule.Within is { } within)
                Set(TimerOf(WithinOf(group.Id), group.Id, within));
            return new GroupChange(group.Id, IsKnown: false, Release: null);
        }

        Open = null;
        foreach (var timer in TimersOf(group.Id))
        {
            _timers.Remove(timer);
            if (group.Id == _stored?.Id)
                _endedTimers.Add(timer);
        }

        var release = ReleaseOf(line, group.Id, isComplete ? GroupReasons.Complete : GroupReasons.Full);
        Set(release);
        return new GroupChange(group.Id, IsKnown: false, release);
    }

    /// <summary>The timer that releases a group.</summary>
    public static StoredTimer ReleaseOf(string line, Guid group, string reason) =>
        new(MessageIds.Derive(group, "release"), HeldTimers.Release, line) { Delay = TimeSpan.Zero, Data = $"{group} {reason}" };

    /// <summary>The timers at which a group is closed.</summary>
    public static Guid[] TimersOf(Guid group) => [IdleOf(group), WithinOf(group)];

    private static Guid IdleOf(Guid group) => MessageIds.Derive(group, "idle");

    private static Guid WithinOf(Guid group) => MessageIds.Derive(group, "within");

    private StoredTimer TimerOf(Guid id, Guid group, TimeSpan delay) =>
        new(id, HeldTimers.Group, line) { Delay = delay, Data = group.ToString() };

    private void Set(StoredTimer timer) => _timers[timer.Id] = timer;
}

/// <summary>A group that gathers messages.</summary>
/// <param name="Id">The id.</param>
/// <param name="Count">Its messages.</param>
/// <param name="Size">Bytes of their bodies.</param>
/// <param name="Expected">The number that makes it complete; null if none was named yet.</param>
internal sealed record OpenGroup(Guid Id, int Count, long Size, long? Expected);
