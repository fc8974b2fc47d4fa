using Esb.Core.Expressions;
using Esb.Core.Processes;
using Esb.Core.Topics;

namespace Esb.Workflows.Workflows.Compiling;

/// <summary>A compiled workflow. Immutable.</summary>
internal sealed class WorkflowModel(WorkflowConfig config, string hash, string content)
{
    public WorkflowConfig Config => config;

    public string Name => config.Name;

    /// <summary>Identifies the definition with what it pins.</summary>
    public string Hash => hash;

    /// <summary>The definition with what it pins, as JSON.</summary>
    public string Content => content;

    public required IReadOnlyList<Instruction> Instructions { get; init; }

    public required IReadOnlyList<(IReadOnlyList<SubjectPattern> Subjects, IMessageCondition? If)> Starts { get; init; }

    public required MatchedKeys Correlate { get; init; }

    public required WhenRunning WhenRunning { get; init; }

    /// <summary>Everything for which it waits: subjects and keys.</summary>
    public required IReadOnlyList<(IReadOnlyList<SubjectPattern> Subjects, MatchedKeys Match)> Waits { get; init; }

    /// <summary>The traits of its steps.</summary>
    public required IReadOnlyList<StepTraits> Traits { get; init; }

    /// <summary>The connections on which its steps, and the processes that they run, begin transactions.</summary>
    public required IReadOnlyList<string> Transactions { get; init; }

    /// <summary>A brief description of its steps.</summary>
    public required string Description { get; init; }

    /// <summary>All subjects that concern it.</summary>
    public IEnumerable<SubjectPattern> Subjects =>
        Starts.SelectMany(start => start.Subjects).Concat(Waits.SelectMany(wait => wait.Subjects)).Distinct();

    /// <summary>The workflows that it starts.</summary>
    public IEnumerable<string> Children => Instructions.OfType<ChildInstruction>().Select(child => child.Workflow).Distinct();
}

/// <summary>All workflows of a revision. Immutable.</summary>
internal sealed class WorkflowModels(IReadOnlyList<WorkflowModel> all)
{
    private readonly Dictionary<string, WorkflowModel> _byName = all.ToDictionary(model => model.Name);

    public IReadOnlyList<WorkflowModel> All => all;

    public WorkflowModel? Find(string name) => _byName.GetValueOrDefault(name);
}
