using Esb.Core.Configuration;

namespace Esb.Core.Processes;

/// <summary>A compiled step, or several in a row. Thread-safe: one delegate serves all messages.</summary>
public delegate ValueTask MessageStep(MessageContext context, CancellationToken cancellationToken);

/// <summary>A compiled step: its kind, its effect on messages, and its binding. Immutable.</summary>
/// <param name="step">The configured step.</param>
/// <param name="description">A brief description, such as <c>validate(order)</c>: shown at start and by <c>esb explain</c>.</param>
public sealed class StepModel(StepConfig step, string description)
{
    /// <summary>The step's name in the configuration, such as <c>publish</c>.</summary>
    public string Kind { get; } = step.Kind;

    /// <summary>Its path, such as <c>processes.receive-order[2].publish</c>.</summary>
    public string Path { get; } = step.Path;

    /// <summary>Its origin.</summary>
    public ConfigOrigin Origin { get; } = step.Origin;

    /// <summary>Its id; null if it has none.</summary>
    public string? Id { get; } = step.Id;

    /// <summary>Name in history and telemetry: its id, or its path.</summary>
    public string Place => step.Place;

    /// <summary>A brief description.</summary>
    public string Description { get; } = description;

    /// <summary>Traits that other parts need to know.</summary>
    public StepTraits Traits { get; init; } = StepTraits.None;

    /// <summary>The lists of steps that it contains, including those that it may never run.</summary>
    public IReadOnlyList<StepListModel> Lists { get; init; } = [];

    /// <summary>How a workflow runs the step piece by piece, so that it can wait in the middle; null if the step runs as a whole.</summary>
    public StepFlow? Flow { get; init; }

    /// <summary>Binds the step, once for each revision of a configuration: requests the services that it uses, and creates its pools. Null
    /// after an error in the step or in a nested step.</summary>
    public Func<IServiceProvider, MessageStep>? Bind
    {
        get => Lists.All(list => list.IsWhole) ? field : null;
        init;
    }

    /// <summary>The step and all nested steps.</summary>
    public IEnumerable<StepModel> Descend() => Lists.SelectMany(list => list.Descend()).Prepend(this);
}

/// <summary>How a workflow runs a step piece by piece.</summary>
public abstract record StepFlow
{
    /// <summary>True if the step exists in workflows only.</summary>
    public virtual bool IsDurable => false;
}

/// <summary>Compiled steps that run in sequence, until one ends the process. Immutable.</summary>
/// <param name="steps">The steps, including those with an error.</param>
/// <param name="bind">Binds the steps from an index on to services.</param>
public sealed class StepListModel(IReadOnlyList<StepModel> steps, Func<IServiceProvider, int, MessageStep> bind)
{
    /// <summary>Creates a list that is only bound as a whole.</summary>
    public StepListModel(IReadOnlyList<StepModel> steps, Func<IServiceProvider, MessageStep> bind)
        : this(steps, (services, _) => bind(services)) { }

    /// <summary>The steps in their order.</summary>
    public IReadOnlyList<StepModel> Steps => steps;

    /// <summary>A brief description: <c>choose(1) → validate(order) → publish(orders.accepted)</c>.</summary>
    public string Description { get; } = string.Join(" → ", steps.Select(step => step.Description));

    /// <summary>True if no step has an error.</summary>
    public bool IsWhole { get; } = steps.All(step => step.Bind is not null);

    /// <summary>Binds the steps to services.</summary>
    /// <exception cref="InvalidOperationException">A step has an error.</exception>
    public MessageStep Bind(IServiceProvider services) =>
        IsWhole ? bind(services, 0) : throw new InvalidOperationException($"These steps could not be compiled: {Description}.");

    /// <summary>The steps behind one of the steps.</summary>
    /// <param name="index">Index of that step.</param>
    public StepListModel Behind(int index) => new([.. steps.Skip(index + 1)], (services, from) => bind(services, index + 1 + from));

    /// <summary>The steps and all nested steps.</summary>
    public IEnumerable<StepModel> Descend() => steps.SelectMany(step => step.Descend());
}
