using Esb.Core.Processes;
using Esb.Core.Topics;
using Esb.Workflows.Processes;
using Esb.Workflows.Workflows.Compiling;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Workflows.Workflows.Engine;

/// <summary>A workflow's instructions, bound to the services of a revision. Thread-safe.</summary>
internal sealed class BoundProgram
{
    private readonly MessageStep?[] _steps;

    /// <param name="model">The workflow.</param>
    /// <param name="services">The services of its revision.</param>
    /// <param name="hash">The hash of the kept definition that it was compiled of; null for its own.</param>
    public BoundProgram(WorkflowModel model, IServiceProvider services, string? hash = null)
    {
        Model = model;
        Hash = hash ?? model.Hash;
        IsKept = hash is not null;
        _steps =
        [
            .. model.Instructions.Select(instruction =>
                instruction switch
                {
                    RunInstruction run => StepCompiler.Place(run.Step, services).RunAsync,
                    RequestInstruction request => Publish(request, services.GetRequiredService<ITopicPublisher>()),
                    _ => (MessageStep?)null,
                }
            ),
        ];
    }

    public WorkflowModel Model { get; }

    /// <summary>Identifies the definition.</summary>
    public string Hash { get; }

    /// <summary>True if it does not belong to a revision that may go.</summary>
    public bool IsKept { get; }

    public Instruction this[int at] => Model.Instructions[at];

    public int Count => Model.Instructions.Count;

    public MessageStep StepAt(int at) => _steps[at]!;

    // A request leaves with the checkpoint, as any message.
    private static MessageStep Publish(RequestInstruction request, ITopicPublisher publisher) =>
        (context, cancellationToken) => publisher.PublishAsync(context, request.Subject, request.Place, cancellationToken);
}

/// <summary>The workflows of a revision, each bound at its first use. Thread-safe.</summary>
internal sealed class WorkflowCatalog(WorkflowModels models, IServiceProvider services)
{
    private readonly Dictionary<string, Lazy<BoundProgram>> _programs = models.All.ToDictionary(
        model => model.Name,
        model => new Lazy<BoundProgram>(() => new BoundProgram(model, services))
    );

    public IEnumerable<string> Names => _programs.Keys;

    /// <summary>The workflow under the hash of the kept definition that it was compiled of; null if there is none.</summary>
    public BoundProgram? FindKept(string workflow, string hash) =>
        models.Find(workflow) is { } model ? new BoundProgram(model, services, hash) : null;

    public BoundProgram? Find(string workflow) => _programs.GetValueOrDefault(workflow)?.Value;
}
