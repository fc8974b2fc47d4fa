using Esb.Core.Configuration.Settings;
using Esb.Core.Expressions;
using Esb.Core.Topics;

namespace Esb.Core.Processes;

/// <summary>What a step says of itself to everybody who is not the step: checks, the audit, the gate of topics that are away, the keepers
/// of databases. Immutable.</summary>
/// <remarks>Nothing judges a step by its kind or by the type of its settings. A step that says nothing works on its message
/// alone.</remarks>
public sealed record StepTraits
{
    /// <summary>Nothing that others need to know.</summary>
    public static readonly StepTraits None = new();

    private readonly bool? _handsToTopics;

    /// <summary>Whether its work leaves audit facts by itself, so that none says that it went well.</summary>
    public bool LeavesFacts { get; init; }

    /// <summary>Whether it makes another message of the one it finds, which the audit may keep as it was before and after.</summary>
    public bool Transforms { get; init; }

    /// <summary>The subjects that it publishes messages under.</summary>
    public IReadOnlyList<Subject> Publishes { get; init; } = [];

    /// <summary>The subjects that it publishes requests under, waiting for their replies.</summary>
    public IReadOnlyList<Subject> Requests { get; init; } = [];

    /// <summary>Whether it fails while topics take no messages, so that nothing is let in then. By default where it publishes or requests;
    /// to be said where it does so best effort, or under subjects that only the message tells.</summary>
    public bool HandsToTopics
    {
        get => _handsToTopics ?? (Publishes.Count > 0 || Requests.Count > 0);
        init => _handsToTopics = value;
    }

    /// <summary>The outbound endpoints that it calls without a topic, on the host that runs the process.</summary>
    public IReadOnlyList<string> Calls { get; init; } = [];

    /// <summary>The processes that it runs as a part of its own.</summary>
    public IReadOnlyList<string> Runs { get; init; } = [];

    /// <summary>The database, one of the connections, in a transaction of which its steps run: what they publish goes to the outbox there.
    /// Empty where it could not be read; null for a step that begins none.</summary>
    public string? Transaction { get; init; }

    /// <summary>The values that it takes out of the message before it works on it, those of conditions included.</summary>
    public IReadOnlyList<IValueSource> Values { get; init; } = [];

    /// <summary>The kind of document that it reads the body as; null where it does not, or where any will do.</summary>
    public BodyReading? Reads { get; init; }

    /// <summary>Whether the body behind it is another than the one it finds.</summary>
    public bool ReplacesBody { get; init; }

    /// <summary>The map that makes the body behind it; null where none does, or where that is not known.</summary>
    public MapOutput? Makes { get; init; }

    /// <summary>Whether a failure may break off its first list anywhere, and its other lists run behind it.</summary>
    public bool IsTry { get; init; }

    /// <summary>The codes of failures that its lists are for.</summary>
    public IReadOnlyList<CaughtCodes> Catches { get; init; } = [];

    /// <summary>The codes that the configuration gives it to fail with.</summary>
    public IReadOnlyList<string> FailsWith { get; init; } = [];
}

/// <summary>That a step reads the body as a certain kind of document.</summary>
/// <param name="Settings">The settings that say so.</param>
/// <param name="Property">The property of them, by its configured name.</param>
/// <param name="Kind">The kind of document.</param>
public sealed record BodyReading(SettingsRecord Settings, string Property, MadeKind Kind);

/// <summary>What a map makes of bodies.</summary>
/// <param name="Map">The name of the map.</param>
/// <param name="Kind">The kind of document.</param>
public sealed record MapOutput(string Map, MadeKind Kind);

/// <summary>Codes that a branch catches.</summary>
/// <param name="Settings">The settings of the branch.</param>
/// <param name="Property">The property with the codes, by its configured name.</param>
/// <param name="Codes">The codes; a <c>*</c> at the end stands for any rest.</param>
public sealed record CaughtCodes(SettingsRecord Settings, string Property, IReadOnlyList<string> Codes);
