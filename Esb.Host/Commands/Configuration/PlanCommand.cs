using System.CommandLine;
using Esb.Core.Configuration;
using Esb.Core.Planning;
using Esb.Host.Commands.Versions;
using Esb.Host.Composition;
using Esb.Host.Reloading;

namespace Esb.Host.Commands.Configuration;

/// <summary><c>esb plan config [--apply | --url URL]</c></summary>
internal sealed class PlanCommand : Command
{
    private static readonly string[] Header = ["CHANGE", "OBJECT", "DETAIL"];

    private readonly Argument<string> _config = new("config")
    {
        Description = "A configuration: a file, or a folder with esb.json and *.esb.json.",
    };
    private readonly HostOptions _host;
    private readonly Option<bool> _apply = new("--apply")
    {
        Description = "Makes the migrations; hosts release what is replaced, and resume afterwards.",
    };

    public PlanCommand(CommandContext context)
        : base("plan", "Shows what a configuration would change on the broker and in the database, and with --url on a running host.")
    {
        Add(_config);
        Add(_apply);
        _host = new HostOptions(this);
        Validators.Add(result =>
        {
            if (result.GetValue(_apply) && _host.AreGiven(result))
                result.AddError("--apply is for hosts that are stopped: use it without --url, or esb reload --migrate.");
        });
        SetAction(
            (result, cancellationToken) =>
                _host.AreGiven(result.CommandResult)
                    ? AskAsync(context, result, cancellationToken)
                    : PlanAsync(context, result.GetRequiredValue(_config), result.GetValue(_apply), cancellationToken)
        );
    }

    private async Task<int> AskAsync(CommandContext context, ParseResult result, CancellationToken cancellationToken)
    {
        using var client = _host.Connect(result, context);
        var plan = await client.PostAsync<PlannedReload>(
            "api/configuration/plan",
            await ApplyCommand.ReadAsync(context, result.GetRequiredValue(_config), cancellationToken),
            cancellationToken
        );
        await context.Output.WriteLineAsync(
            plan.Running == plan.Wanted && plan.Changes.Count == 0
                ? $"Revision {plan.Running} runs, and this is the same."
                : $"Revision {plan.Running} runs, and this is {plan.Wanted}."
        );
        foreach (var line in plan.Changes)
            await context.Output.WriteLineAsync($"  {line}");
        Write(context.Output, plan.Outside);
        if (plan.Outside.Any(change => change.Kind == ChangeKind.Migrate))
            await context.Output.WriteLineAsync("What has to be moved is moved by esb reload --migrate, while the hosts run.");
        if (plan.Outside.Any(change => change.Kind == ChangeKind.Suspend))
            await context.Output.WriteLineAsync(
                "Instances of workflows that could not go on are suspended with --force; otherwise it is refused."
            );
        if (plan.Refused.Count > 0)
            await context.Output.WriteLineAsync("A reload would be refused:");
        foreach (var line in plan.Refused)
            await context.Output.WriteLineAsync($"  {line}");
        return ExitCode.Done;
    }

    private static async Task<int> PlanAsync(CommandContext context, string path, bool apply, CancellationToken cancellationToken)
    {
        await using var services = BusServices.Build(path, context.Variables, context.Services());
        var planners = services
            .GetRequiredService<IRevisions>()
            .Current.Services.GetServices<IChangePlanner>()
            .Where(planner => !planner.NeedsRunningBus)
            .ToList();
        if (apply)
        {
            foreach (var planner in planners)
                await planner.ApplyAsync(context.Output.WriteLine, cancellationToken);
        }

        var changes = new List<PlannedChange>();
        foreach (var planner in planners)
            changes.AddRange(await planner.PlanAsync(cancellationToken));
        Write(context.Output, changes);
        if (changes.Any(change => change.Kind == ChangeKind.Migrate))
            await context.Output.WriteLineAsync(
                "No host migrates by itself: esb plan … --apply does, while the hosts wait. Those with another configuration than "
                    + "this do not consume afterwards."
            );
        return ExitCode.Done;
    }

    private static void Write(TextWriter output, IReadOnlyCollection<PlannedChange> changes)
    {
        if (changes.Count > 0)
            TextTable.Write(output, changes.Select(change => new[] { WordFor(change.Kind), change.Object, change.Detail }).Prepend(Header));
        var counts = changes
            .GroupBy(change => change.Kind)
            .OrderBy(kind => kind.Key)
            .Select(kind => $"{kind.Count()} to {WordFor(kind.Key)}");
        output.WriteLine(
            changes.Count == 0 ? "Nothing outside of the host: topics in memory, a store in files." : $"{string.Join(", ", counts)}."
        );
    }

    private static string WordFor(ChangeKind kind) => kind.ToString().ToLowerInvariant();
}
