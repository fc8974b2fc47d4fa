using Esb.Core.Processes;
using Esb.Core.Storage;

namespace Esb.Workflows.Processes.Holding;

/// <summary>The steps of a revision that hold messages, for what happens to them later. Immutable and thread-safe.</summary>
/// <param name="processes">The compiled processes.</param>
/// <param name="services">The services of the revision.</param>
internal sealed class HoldCatalog(ProcessModels processes, IServiceProvider services)
{
    private readonly Dictionary<string, StepModel> _steps = processes
        .All.SelectMany(process =>
            process.Steps.Descend().Where(step => step.Traits.Holds).Select(step => (HeldMessage.StepOf(process.Name, step.Place), step))
        )
        .ToDictionary();

    /// <summary>The services of the revision.</summary>
    public IServiceProvider Services => services;

    /// <summary>True if a step of the revision keeps messages in the store, to continue or publish them later.</summary>
    public bool Any { get; } = processes.Steps.Any(step => step.Traits.Holds || step.Traits.StoresPublishes);

    /// <summary>True if it has the step.</summary>
    public bool Has(string step) => _steps.ContainsKey(step);

    /// <summary>What a step does with held messages; null if the revision has no such step, or one of another kind.</summary>
    public TFlow? Find<TFlow>(string step)
        where TFlow : StepFlow => _steps.GetValueOrDefault(step)?.Flow as TFlow;
}
