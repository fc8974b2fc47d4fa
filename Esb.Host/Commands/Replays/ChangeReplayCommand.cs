using System.CommandLine;
using Esb.Host.Management.DeadLetters;

namespace Esb.Host.Commands.Replays;

/// <summary><c>esb replays pause|resume|cancel ID</c></summary>
internal sealed class ChangeReplayCommand : Command
{
    private readonly Argument<Guid> _id = new("id") { Description = "The id of a replay job." };
    private readonly Option<string?> _reason = new("--reason") { Description = "Why, for the record." };
    private readonly HostOptions _host;

    public ChangeReplayCommand(string verb, string description, CommandContext context)
        : base(verb, description)
    {
        Add(_id);
        Add(_reason);
        _host = new HostOptions(this);
        SetAction((result, cancellationToken) => ChangeAsync(result, context, cancellationToken));
    }

    private async Task<int> ChangeAsync(ParseResult result, CommandContext context, CancellationToken cancellationToken)
    {
        using var client = _host.Connect(result, context);
        var job = await client.PostAsync<ReplayJobView>(
            $"api/replays/{result.GetValue(_id)}/{Name}",
            new ReasonBody { Reason = result.GetValue(_reason) },
            cancellationToken
        );
        context.Output.WriteLine(
            $"job {job.Id} is {CommandJson.NameOf(job.State)}: {job.Replayed} of {job.Total} sent, {job.Failed} came back"
        );
        return ExitCode.Done;
    }
}
