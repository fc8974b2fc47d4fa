using Esb.Core.Configuration;

namespace Esb.Core.Processes;

/// <summary>A compiled step, or several in a row. Thread-safe: one delegate serves all messages.</summary>
public delegate ValueTask MessageStep(MessageContext context, CancellationToken cancellationToken);

/// <summary>A compiled step: what it is, what it does to messages, and how it is put into service. Immutable.</summary>
/// <param name="step">The step as it is configured.</param>
/// <param name="description">In a few words, such as <c>validate(order)</c>: shown at start and by <c>esb explain</c>.</param>
public sealed class StepModel(StepConfig step, string description)
{
    /// <summary>The step's name in the configuration, such as <c>publish</c>.</summary>
    public string Kind { get; } = step.Kind;

    /// <summary>Where it stands, such as <c>processes.receive-order[2].publish</c>.</summary>
    public string Path { get; } = step.Path;

    /// <summary>Where it came from.</summary>
    public ConfigOrigin Origin { get; } = step.Origin;

    /// <summary>Its name; null where it has none.</summary>
    public string? Id { get; } = step.Id;

    /// <summary>What it is called in history and telemetry: its id, or where it stands.</summary>
    public string Place => step.Place;

    /// <summary>In a few words.</summary>
    public string Description { get; } = description;

    /// <summary>What everybody else needs to know of it.</summary>
    public StepTraits Traits { get; init; } = StepTraits.None;

    /// <summary>The lists of steps that it holds, also those that it may never run.</summary>
    public IReadOnlyList<StepListModel> Lists { get; init; } = [];

    /// <summary>Puts the step into service, once for each revision of a configuration: asks for the services that it runs on, and makes its
    /// pools. Null after an error, its own or that of a step inside.</summary>
    public Func<IServiceProvider, MessageStep>? Bind
    {
        get => Lists.All(list => list.IsWhole) ? field : null;
        init;
    }

    /// <summary>The step and all steps that it holds.</summary>
    public IEnumerable<StepModel> Descend() => Lists.SelectMany(list => list.Descend()).Prepend(this);
}

/// <summary>Compiled steps that are run in a row, until one ends the process. Immutable.</summary>
/// <param name="steps">The steps, also those with an error.</param>
/// <param name="bind">Puts them into service.</param>
public sealed class StepListModel(IReadOnlyList<StepModel> steps, Func<IServiceProvider, MessageStep> bind)
{
    /// <summary>The steps in their order.</summary>
    public IReadOnlyList<StepModel> Steps => steps;

    /// <summary>In a few words: <c>choose(1) → validate(order) → publish(orders.accepted)</c>.</summary>
    public string Description { get; } = string.Join(" → ", steps.Select(step => step.Description));

    /// <summary>Whether no step has an error.</summary>
    public bool IsWhole { get; } = steps.All(step => step.Bind is not null);

    /// <summary>Puts the steps into service.</summary>
    /// <exception cref="InvalidOperationException">A step has an error.</exception>
    public MessageStep Bind(IServiceProvider services) => IsWhole
        ? bind(services)
        : throw new InvalidOperationException($"These steps could not be compiled: {Description}.");

    /// <summary>The steps and all steps that they hold.</summary>
    public IEnumerable<StepModel> Descend() => steps.SelectMany(step => step.Descend());
}
