using Esb.Core.Processes;
using Esb.Core.Topics;

namespace Esb.Core.Workflows;

/// <summary>What the workflows of a revision are connected with. Immutable.</summary>
/// <param name="All">All workflows.</param>
public sealed record ConnectedWorkflows(IReadOnlyList<ConnectedWorkflow> All);

/// <summary>A workflow, and what messages reach it and leave it by.</summary>
/// <param name="Name">Its name.</param>
/// <param name="Description">A brief description of its steps.</param>
/// <param name="Subscribes">The subjects that start it, or for which it waits.</param>
/// <param name="Steps">The traits of its steps.</param>
/// <param name="Runs">The workflows that it starts.</param>
public sealed record ConnectedWorkflow(
    string Name,
    string Description,
    IReadOnlyList<SubjectPattern> Subscribes,
    IReadOnlyList<StepTraits> Steps,
    IReadOnlyList<string> Runs
);
