using Esb.Core.Processes;
using Esb.Workflows.Processes;
using Esb.Workflows.Workflows.Compiling;

namespace Esb.Workflows.Workflows.Engine;

/// <summary>A workflow's instructions, bound to the services of a revision. Thread-safe.</summary>
internal sealed class BoundProgram
{
    private readonly MessageStep?[] _steps;

    public BoundProgram(WorkflowModel model, IServiceProvider services)
    {
        Model = model;
        _steps = [.. model.Instructions.Select(instruction => instruction is RunInstruction run ? StepCompiler.Place(run.Step, services).RunAsync : (MessageStep?)null)];
    }

    public WorkflowModel Model { get; }

    public Instruction this[int at] => Model.Instructions[at];

    public int Count => Model.Instructions.Count;

    public MessageStep StepAt(int at) => _steps[at]!;
}

/// <summary>The workflows of a revision, each bound at its first use. Thread-safe.</summary>
internal sealed class WorkflowCatalog(WorkflowModels models, IServiceProvider services)
{
    private readonly Dictionary<string, Lazy<BoundProgram>> _programs = models.All.ToDictionary(model => model.Name, model => new Lazy<BoundProgram>(() => new BoundProgram(model, services)));

    public IEnumerable<string> Names => _programs.Keys;

    public BoundProgram? Find(string workflow) => _programs.GetValueOrDefault(workflow)?.Value;
}
