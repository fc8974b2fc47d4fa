using Esb.Configuration.Compiling;
using Esb.Core.Configuration;
using Esb.Core.Workflows;

namespace Esb.Host.Composition;

/// <summary>A definition that living instances of a workflow need.</summary>
/// <param name="Workflow">The workflow.</param>
/// <param name="Hash">Hash of the definition.</param>
/// <param name="Instances">Number of its living instances.</param>
/// <param name="Obstacle">The reason why they could not go on; null if they can.</param>
internal sealed record NeededDefinition(string Workflow, string Hash, long Instances, string? Obstacle)
{
    public ConfigError ToError() =>
        new("ESB-WFL-VERSION", $"workflows.{Workflow}", Value: null, $"{Living} would be suspended: {Obstacle}");

    public override string ToString() => $"workflows.{Workflow}: {Living} can go on";

    private string Living => $"{Instances} living {(Instances == 1 ? "instance" : "instances")} of definition {Hash[..12]}";
}

/// <summary>Checks definitions that living instances need against a configuration and this version of the program.</summary>
internal static class NeededDefinitions
{
    /// <summary>Compiles each definition with the configuration; starts nothing.</summary>
    public static async Task<IReadOnlyList<NeededDefinition>> CheckAsync(
        IWorkflowStore store,
        DefinitionCompiler compiler,
        BusModel model,
        CancellationToken cancellationToken
    )
    {
        var workflows = model.Find<ConnectedWorkflows>()?.All.Select(workflow => workflow.Name).ToHashSet() ?? [];
        var counts = await store.CountByDefinitionAsync(cancellationToken);
        return
        [
            .. (await store.LiveDefinitionsAsync(cancellationToken)).Select(definition => new NeededDefinition(
                definition.Workflow,
                definition.Hash,
                counts.GetValueOrDefault(definition.Hash),
                workflows.Contains(definition.Workflow)
                    ? compiler.FindObstacle(definition, model)
                    : "the configuration has no such workflow"
            )),
        ];
    }
}
