using Esb.Core.Topics;

namespace Esb.Core.Processes;

/// <summary>A compiled process. Immutable.</summary>
/// <param name="Name">Its name in the configuration.</param>
/// <param name="Steps">Its steps.</param>
/// <param name="NeedsTopics">True if it hands messages to topics while it runs, and so fails while they are unavailable. Publishes through
/// the outbox of a transaction do not count.</param>
public sealed record ProcessModel(string Name, StepListModel Steps, bool NeedsTopics)
{
    /// <summary>Brief description of its steps: <c>choose(1) → validate(order) → publish(orders.accepted)</c>.</summary>
    public string Description => Steps.Description;

    /// <summary>True if it, or a process that it runs, may publish messages or commit a transaction.</summary>
    public bool Accepts { get; init; }
}

/// <summary>The compiled processes of a configuration, and their combined effects. Immutable.</summary>
public sealed class ProcessModels
{
    private readonly IReadOnlyDictionary<string, StepListModel> _steps;
    private readonly Dictionary<string, ProcessModel> _processes;

    /// <summary>Creates the models of processes that may run one another.</summary>
    /// <param name="steps">Steps of each process, by its name.</param>
    public ProcessModels(IReadOnlyDictionary<string, StepListModel> steps)
    {
        _steps = steps;
        _processes = steps.ToDictionary(
            process => process.Key,
            process => new ProcessModel(process.Key, process.Value, NeedsTopics(process.Value.Steps, [process.Key]))
            {
                Accepts = ReachedBy(process.Key)
                    .Any(step =>
                        step.Traits.Accepts
                        || step.Traits.Publishes.Count > 0
                        || step.Traits.Transaction is not null
                        || (step.Traits.HandsToTopics && step.Traits.Requests.Count == 0)
                    ),
            }
        );
        Transactions = [.. Steps.Select(step => step.Traits.Transaction).OfType<string>().Distinct()];
        Called = Steps.SelectMany(step => step.Traits.Calls).ToHashSet();
    }

    /// <summary>All processes, in the order of the configuration.</summary>
    public IReadOnlyCollection<ProcessModel> All => _processes.Values;

    /// <summary>All steps of all processes.</summary>
    public IEnumerable<StepModel> Steps => _steps.Values.SelectMany(list => list.Descend());

    /// <summary>Connections on which processes begin transactions.</summary>
    public IReadOnlyCollection<string> Transactions { get; }

    /// <summary>Endpoints that processes call without a topic.</summary>
    public IReadOnlySet<string> Called { get; }

    /// <summary>The process of this name; null if it does not exist.</summary>
    public ProcessModel? Find(string name) => _processes.GetValueOrDefault(name);

    /// <summary>Subjects under which a process, and the processes that it runs, publish messages and requests; empty if the process does
    /// not exist.</summary>
    public IReadOnlyList<Subject> PublishedBy(string process) =>
        [.. ReachedBy(process).SelectMany(step => step.Traits.Publishes.Concat(step.Traits.Requests)).Distinct()];

    /// <summary>Endpoints that a process, and the processes that it runs, call without a topic; empty if the process does not
    /// exist.</summary>
    public IReadOnlyList<string> CalledBy(string process) => [.. ReachedBy(process).SelectMany(step => step.Traits.Calls).Distinct()];

    /// <summary>The steps, all nested steps, and those of the processes that they run; each process once.</summary>
    public IReadOnlyList<StepModel> Reached(IEnumerable<StepModel> steps) => [.. Reached(steps, [])];

    private IReadOnlyList<StepModel> ReachedBy(string process) => _steps.TryGetValue(process, out var list) ? Reached(list.Steps) : [];

    private IEnumerable<StepModel> Reached(IEnumerable<StepModel> steps, HashSet<string> seen) =>
        steps
            .SelectMany(step => step.Descend())
            .SelectMany(step => RunBy(step, seen).SelectMany(inner => Reached(inner, seen)).Prepend(step));

    // Publishes in a transaction go to the outbox first.
    private bool NeedsTopics(IEnumerable<StepModel> steps, HashSet<string> seen) =>
        steps.Any(step =>
            step.Traits.Transaction is null
            && (
                step.Traits.HandsToTopics
                || step.Lists.Any(list => NeedsTopics(list.Steps, seen))
                || RunBy(step, seen).Any(inner => NeedsTopics(inner, seen))
            )
        );

    private IEnumerable<IReadOnlyList<StepModel>> RunBy(StepModel step, HashSet<string> seen)
    {
        foreach (var name in step.Traits.Runs)
        {
            if (seen.Add(name) && _steps.TryGetValue(name, out var list))
                yield return list.Steps;
        }
    }
}
