using System.CommandLine;
using Esb.Core.Configuration;
using Esb.Core.Planning;
using Esb.Host.Composition;

namespace Esb.Host.Commands.Configuration;

/// <summary><c>esb plan config [--apply]</c></summary>
internal sealed class PlanCommand : Command
{
    private static readonly string[] Header = ["CHANGE", "OBJECT", "DETAIL"];

    private readonly Argument<string> _config = new("config") { Description = "A configuration: a file, or a folder with *.json." };
    private readonly Option<bool> _apply = new("--apply") { Description = "Makes the migrations; hosts let go of what is replaced, and go on afterwards." };

    public PlanCommand(CommandContext context)
        : base("plan", "Shows what a configuration would change on the broker and in the database.")
    {
        Add(_config);
        Add(_apply);
        SetAction((result, cancellationToken) => PlanAsync(context, result.GetRequiredValue(_config), result.GetValue(_apply), cancellationToken));
    }

    private static async Task<int> PlanAsync(CommandContext context, string path, bool apply, CancellationToken cancellationToken)
    {
        await using var services = BusServices.Build(path, context.Variables, context.Services());
        var planners = services.GetRequiredService<IRevisions>().Current.Services.GetServices<IChangePlanner>().ToList();
        if (apply)
        {
            foreach (var planner in planners) await planner.ApplyAsync(context.Output.WriteLine, cancellationToken);
        }

        var changes = new List<PlannedChange>();
        foreach (var planner in planners) changes.AddRange(await planner.PlanAsync(cancellationToken));
        Write(context.Output, changes);
        return ExitCode.Done;
    }

    private static void Write(TextWriter output, IReadOnlyCollection<PlannedChange> changes)
    {
        if (changes.Count > 0) TextTable.Write(output, changes.Select(change => new[] { WordFor(change.Kind), change.Object, change.Detail }).Prepend(Header));
        var counts = changes.GroupBy(change => change.Kind).OrderBy(kind => kind.Key).Select(kind => $"{kind.Count()} to {WordFor(kind.Key)}");
        output.WriteLine(changes.Count == 0 ? "Nothing outside of the host: topics in memory, a store in files." : $"{string.Join(", ", counts)}.");
        if (changes.Any(change => change.Kind == ChangeKind.Migrate))
            output.WriteLine("No host migrates by itself: esb plan … --apply does, while the hosts wait. Those with another configuration than this do not consume afterwards.");
    }

    private static string WordFor(ChangeKind kind) => kind.ToString().ToLowerInvariant();
}
