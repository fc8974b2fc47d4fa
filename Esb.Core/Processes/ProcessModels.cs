using Esb.Core.Topics;

namespace Esb.Core.Processes;

/// <summary>A compiled process. Immutable.</summary>
/// <param name="Name">Its name in the configuration.</param>
/// <param name="Steps">Its steps.</param>
/// <param name="NeedsTopics">Whether it hands messages to topics while it runs, and so fails while they take none. What goes by the outbox
/// of a transaction does not count.</param>
public sealed record ProcessModel(string Name, StepListModel Steps, bool NeedsTopics)
{
    /// <summary>Its steps in a few words: <c>choose(1) → validate(order) → publish(orders.accepted)</c>.</summary>
    public string Description => Steps.Description;
}

/// <summary>The compiled processes of a configuration, and what they do together. Immutable.</summary>
public sealed class ProcessModels
{
    private readonly IReadOnlyDictionary<string, StepListModel> _steps;
    private readonly Dictionary<string, ProcessModel> _processes;

    /// <summary>Processes that may run one another.</summary>
    /// <param name="steps">The steps of each, by its name.</param>
    public ProcessModels(IReadOnlyDictionary<string, StepListModel> steps)
    {
        _steps = steps;
        _processes = steps.ToDictionary(
            process => process.Key,
            process => new ProcessModel(process.Key, process.Value, NeedsTopics(process.Value.Steps, [process.Key])));
        Transactions = [.. Steps.Select(step => step.Traits.Transaction).OfType<string>().Distinct()];
        Called = Steps.SelectMany(step => step.Traits.Calls).ToHashSet();
    }

    /// <summary>All processes, in the order in which they are configured.</summary>
    public IReadOnlyCollection<ProcessModel> All => _processes.Values;

    /// <summary>All steps of all processes.</summary>
    public IEnumerable<StepModel> Steps => _steps.Values.SelectMany(list => list.Descend());

    /// <summary>The connections that processes begin transactions on.</summary>
    public IReadOnlyCollection<string> Transactions { get; }

    /// <summary>The endpoints that processes call without a topic.</summary>
    public IReadOnlySet<string> Called { get; }

    /// <summary>The process of this name; null where there is none.</summary>
    public ProcessModel? Find(string name) => _processes.GetValueOrDefault(name);

    /// <summary>The subjects that a process publishes messages and requests under, with the processes that it runs; none where there is no
    /// such process.</summary>
    public IReadOnlyList<Subject> PublishedBy(string process) =>
        [.. ReachedBy(process).SelectMany(step => step.Traits.Publishes.Concat(step.Traits.Requests)).Distinct()];

    /// <summary>The endpoints that a process calls without a topic, with the processes that it runs; none where there is no such
    /// process.</summary>
    public IReadOnlyList<string> CalledBy(string process) => [.. ReachedBy(process).SelectMany(step => step.Traits.Calls).Distinct()];

    /// <summary>The steps, all that they hold, and those of the processes that they run; each process once.</summary>
    public IReadOnlyList<StepModel> Reached(IEnumerable<StepModel> steps) => [.. Reached(steps, [])];

    private IReadOnlyList<StepModel> ReachedBy(string process) =>
        _steps.TryGetValue(process, out var list) ? Reached(list.Steps) : [];

    private IEnumerable<StepModel> Reached(IEnumerable<StepModel> steps, HashSet<string> seen) =>
        steps
            .SelectMany(step => step.Descend())
            .SelectMany(step => RunBy(step, seen).SelectMany(inner => Reached(inner, seen)).Prepend(step));

    // What is published in a transaction goes to the outbox first.
    private bool NeedsTopics(IEnumerable<StepModel> steps, HashSet<string> seen) => steps.Any(step =>
        step.Traits.Transaction is null
        && (step.Traits.HandsToTopics
            || step.Lists.Any(list => NeedsTopics(list.Steps, seen))
            || RunBy(step, seen).Any(inner => NeedsTopics(inner, seen))));

    private IEnumerable<IReadOnlyList<StepModel>> RunBy(StepModel step, HashSet<string> seen)
    {
        foreach (var name in step.Traits.Runs)
        {
            if (seen.Add(name) && _steps.TryGetValue(name, out var list)) yield return list.Steps;
        }
    }
}
