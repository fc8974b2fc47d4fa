using System.CommandLine;
using Esb.Host.Commands.Audit;
using Esb.Host.Management.DeadLetters;

namespace Esb.Host.Commands.Replays;

/// <summary><c>esb replays show ID</c></summary>
internal sealed class ShowReplayCommand : Command
{
    private readonly Argument<Guid> _id = new("id") { Description = "The id of a replay job." };
    private readonly SearchOptions _search;

    public ShowReplayCommand(CommandContext context)
        : base("show", "Shows a replay job, as JSON.")
    {
        Add(_id);
        _search = new SearchOptions(this);
        SetAction((result, cancellationToken) => ShowAsync(result, context, cancellationToken));
    }

    private async Task<int> ShowAsync(ParseResult result, CommandContext context, CancellationToken cancellationToken)
    {
        var id = result.GetValue(_id);
        var job = await _search.ReadAsync(
            result,
            context,
            async store =>
                await store.ReplayJobs.GetAsync(id, cancellationToken) is { } found
                    ? ReplayJobView.Of(found)
                    : throw new CommandException(ExitCode.Usage, "ESB-API-NOTFOUND", $"There is no replay job {id}."),
            host => host.GetAsync<ReplayJobView>($"api/replays/{id}", cancellationToken)
        );
        context.Output.WriteLine(CommandJson.Write(job));
        return ExitCode.Done;
    }
}
