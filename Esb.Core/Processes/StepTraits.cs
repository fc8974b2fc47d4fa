using Esb.Core.Configuration.Settings;
using Esb.Core.Expressions;
using Esb.Core.Topics;

namespace Esb.Core.Processes;

/// <summary>Traits that a step declares for other parts: checks, the audit, the gate for unavailable topics, database keepers.
/// Immutable.</summary>
/// <remarks>No part judges a step by its kind or by the type of its settings. A step without traits works on its message alone.</remarks>
public sealed record StepTraits
{
    /// <summary>No traits.</summary>
    public static readonly StepTraits None = new();

    private readonly bool? _handsToTopics;

    /// <summary>True if a workflow makes no checkpoint after its effect outside, which a crash then repeats.</summary>
    public bool SkipsCheckpoint { get; init; }

    /// <summary>True if its work records audit facts itself, so that no further fact reports its success.</summary>
    public bool LeavesFacts { get; init; }

    /// <summary>True if it makes another message from its input; the audit may keep the message before and after.</summary>
    public bool Transforms { get; init; }

    /// <summary>Subjects under which it publishes messages.</summary>
    public IReadOnlyList<Subject> Publishes { get; init; } = [];

    /// <summary>Patterns of further subjects under which it may publish, as the message says.</summary>
    public IReadOnlyList<SubjectPattern> MayPublish { get; init; } = [];

    /// <summary>Subjects under which it publishes requests and waits for their replies.</summary>
    public IReadOnlyList<Subject> Requests { get; init; } = [];

    /// <summary>True if it fails while topics are unavailable, so that no message is admitted then. True by default if it publishes or
    /// requests; to be set if it does so best effort, or under subjects that only the message determines.</summary>
    public bool HandsToTopics
    {
        get => _handsToTopics ?? (Publishes.Count > 0 || Requests.Count > 0);
        init => _handsToTopics = value;
    }

    /// <summary>Outbound endpoints that it calls without a topic, on the host that runs the process.</summary>
    public IReadOnlyList<string> Calls { get; init; } = [];

    /// <summary>Processes that it runs as a part of its own process.</summary>
    public IReadOnlyList<string> Runs { get; init; } = [];

    /// <summary>The database connection on which its steps run in a transaction: their publishes go to the outbox there. Empty if it could
    /// not be read; null if the step begins no transaction.</summary>
    public string? Transaction { get; init; }

    /// <summary>Values that it reads from the message before it processes it, including those of conditions.</summary>
    public IReadOnlyList<IValueSource> Values { get; init; } = [];

    /// <summary>Names of the state that it changes when the process has succeeded.</summary>
    public IReadOnlyList<string> ChangesState { get; init; } = [];

    /// <summary>True if it does something when the process has succeeded that a later failure of the message would make wrong.</summary>
    public bool AwaitsEnd { get; init; }

    /// <summary>Kind of document as which it reads the body; null if it does not read it, or accepts any.</summary>
    public BodyReading? Reads { get; init; }

    /// <summary>True if the body after the step differs from the body before it.</summary>
    public bool ReplacesBody { get; init; }

    /// <summary>True if what its lists publish is stored first, and published after all of them have succeeded: nothing inside of them may
    /// have another effect.</summary>
    public bool StoresPublishes { get; init; }

    /// <summary>True if it may end the process without a failure before its last step, and the instance of a workflow with it.</summary>
    public bool MayEnd { get; init; }

    /// <summary>True if it works on a message whose body is not in memory, as long as its values do not read the body.</summary>
    public bool Streams { get; init; }

    /// <summary>True if its lists run with parts of the body rather than with the body.</summary>
    public bool Divides { get; init; }

    /// <summary>True if the message is kept once it has worked, so that its receipt is recorded first, as before a publish.</summary>
    public bool Accepts { get; init; }

    /// <summary>True if it runs at most one of its lists with the whole message, and does nothing behind it: a step inside may hold the
    /// message.</summary>
    public bool Branches { get; init; }

    /// <summary>True if it may keep the message in the store and end the process; the steps behind it run later, from another
    /// queue.</summary>
    public bool Holds { get; init; }

    /// <summary>True if its lists run at the same time, which no transaction allows.</summary>
    public bool RunsAtOnce { get; init; }

    /// <summary>The map that creates the body after the step; null if none, or if unknown.</summary>
    public MapOutput? Makes { get; init; }

    /// <summary>True if a failure may interrupt its first list anywhere, after which its other lists run.</summary>
    public bool IsTry { get; init; }

    /// <summary>Codes of the failures that its lists handle.</summary>
    public IReadOnlyList<CaughtCodes> Catches { get; init; } = [];

    /// <summary>Failure codes that the configuration gives it.</summary>
    public IReadOnlyList<string> FailsWith { get; init; } = [];
}

/// <summary>Declares that a step reads the body as a certain kind of document.</summary>
/// <param name="Settings">The settings that require it.</param>
/// <param name="Property">Their property, by its configured name.</param>
/// <param name="Kind">The kind of document.</param>
public sealed record BodyReading(SettingsRecord Settings, string Property, MadeKind Kind);

/// <summary>Output of a map.</summary>
/// <param name="Map">The name of the map.</param>
/// <param name="Kind">The kind of document.</param>
public sealed record MapOutput(string Map, MadeKind Kind);

/// <summary>Codes that a branch catches.</summary>
/// <param name="Settings">The settings of the branch.</param>
/// <param name="Property">The property with the codes, by its configured name.</param>
/// <param name="Codes">The codes; a <c>*</c> at the end stands for any rest.</param>
public sealed record CaughtCodes(SettingsRecord Settings, string Property, IReadOnlyList<string> Codes);
