using System.CommandLine;
using Esb.Core.Workflows;
using Esb.Host.Management.Workflows;

namespace Esb.Host.Commands.Workflows;

/// <summary><c>esb workflows migrate NAME [--to HASH] [--dry-run]</c></summary>
internal sealed class MigrateWorkflowsCommand : Command
{
    private readonly Argument<string> _workflow = new("workflow") { Description = "The workflow." };
    private readonly Option<string?> _to = new("--to")
    {
        Description = "The hash of the definition, or its beginning; by default the one that starts instances.",
    };
    private readonly Option<bool> _dryRun = new("--dry-run") { Description = "Only tells what would be moved, and what could not." };
    private readonly Option<string?> _reason = new("--reason") { Description = "Why, for the record; needed unless it is a dry run." };
    private readonly HostOptions _host;

    public MigrateWorkflowsCommand(CommandContext context)
        : base("migrate", "Moves the living instances of a workflow to another definition of it, all of them or none.")
    {
        Add(_workflow);
        Add(_to);
        Add(_dryRun);
        Add(_reason);
        _host = new HostOptions(this);
        SetAction((result, cancellationToken) => MigrateAsync(result, context, cancellationToken));
    }

    private async Task<int> MigrateAsync(ParseResult result, CommandContext context, CancellationToken cancellationToken)
    {
        using var client = _host.Connect(result, context);
        var isDryRun = result.GetValue(_dryRun);
        var migration = await client.PostAsync<WorkflowMigration>(
            "api/workflows/migrations",
            new WorkflowMigrationBody
            {
                Workflow = result.GetRequiredValue(_workflow),
                To = result.GetValue(_to),
                DryRun = isDryRun,
                Reason = result.GetValue(_reason),
            },
            cancellationToken
        );
        foreach (var obstacle in migration.Obstacles)
            context.Error.WriteLine(
                $"{Counted.Of(obstacle.Instances, "instance")} of definition {obstacle.From[..12]} cannot move: {obstacle.Reason}"
            );
        context.Output.WriteLine(
            isDryRun
                ? $"{Counted.Of(migration.Movable, "instance")} can move to definition {migration.To[..12]}; nothing was moved"
                : $"{Counted.Of(migration.Moved, "instance")} moved to definition {migration.To[..12]}"
        );
        return migration.Obstacles.Count == 0 ? ExitCode.Done : ExitCode.Failed;
    }
}
