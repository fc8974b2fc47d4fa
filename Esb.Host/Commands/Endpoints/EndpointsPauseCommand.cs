using System.CommandLine;
using Esb.Core.Endpoints;

namespace Esb.Host.Commands.Endpoints;

/// <summary><c>esb endpoints pause|resume NAME</c>: suspends or resumes the delivery or the intake of an endpoint on every host of the
/// farm.</summary>
internal sealed class EndpointsPauseCommand : Command
{
    private readonly Argument<string> _name = new("name") { Description = "An endpoint." };
    private readonly HostOptions _host;

    public EndpointsPauseCommand(CommandContext context, bool paused)
        : base(
            paused ? "pause" : "resume",
            paused
                ? "Pauses an endpoint: its messages wait in their queue, or, if it is inbound, it takes nothing in."
                : "Resumes a paused endpoint."
        )
    {
        Add(_name);
        _host = new HostOptions(this);
        SetAction((result, cancellationToken) => TuneAsync(result, context, paused, cancellationToken));
    }

    private async Task<int> TuneAsync(ParseResult result, CommandContext context, bool paused, CancellationToken cancellationToken)
    {
        using var client = _host.Connect(result, context);
        var tuned = await client.TuneAsync(result.GetRequiredValue(_name), new EndpointTuning { Paused = paused }, cancellationToken);
        await context.Output.WriteLineAsync(
            $"{result.GetRequiredValue(_name)} {(paused ? "is paused" : "goes on")} on {string.Join(", ", tuned.Hosts)}"
        );
        return ExitCode.Done;
    }
}
