using System.CommandLine;
using Esb.Host.Commands.Audit;
using Esb.Host.Management;
using Esb.Host.Management.DeadLetters;

namespace Esb.Host.Commands.Replays;

/// <summary><c>esb replays list</c></summary>
internal sealed class ListReplaysCommand : Command
{
    private static readonly string[] Header = ["ID", "MADE", "BY", "STATE", "TOTAL", "REPLAYED", "CAME BACK", "TROUBLE"];

    private readonly Option<int> _limit = new Option<int>("--limit")
    {
        Description = "How many at most.",
        DefaultValueFactory = _ => 100,
    }.Within(1, 1_000);
    private readonly ListOutput _list;
    private readonly SearchOptions _search;

    public ListReplaysCommand(CommandContext context)
        : base("list", "Lists replay jobs, the newest first.")
    {
        Add(_limit);
        _list = new ListOutput(this);
        _search = new SearchOptions(this);
        SetAction((result, cancellationToken) => ListAsync(result, context, cancellationToken));
    }

    private async Task<int> ListAsync(ParseResult result, CommandContext context, CancellationToken cancellationToken)
    {
        var limit = result.GetValue(_limit);
        var jobs = await _search.ReadAsync<IReadOnlyList<ReplayJobView>>(
            result,
            context,
            async store => [.. (await store.ReplayJobs.ListAsync(null, limit, cancellationToken)).Select(ReplayJobView.Of)],
            async host => (await host.GetAsync<Page<ReplayJobView>>($"api/replays?limit={limit}", cancellationToken)).Items
        );
        if (_list.TryWrite(result, context, jobs))
            return ExitCode.Done;
        if (jobs.Count == 0)
            context.Error.WriteLine("There is no replay job.");
        else
            TextTable.Write(context.Output, jobs.Select(Row).Prepend(Header));
        return ExitCode.Done;
    }

    private static string[] Row(ReplayJobView job) =>
        [
            job.Id.ToString(),
            job.CreatedAt.ToString("yyyy-MM-dd HH:mm:sszzz"),
            job.CreatedBy,
            CommandJson.NameOf(job.State),
            $"{job.Total}",
            $"{job.Replayed}",
            $"{job.Failed}",
            job.Trouble ?? "",
        ];
}
