using System.CommandLine;
using Esb.Core.Replays;
using Esb.Host.Management;

namespace Esb.Host.Commands.Parking;

/// <summary><c>esb parked show ENDPOINT LINE</c></summary>
internal sealed class ShowParkedCommand : Command
{
    private readonly LineArguments _line;
    private readonly HostOptions _host;

    public ShowParkedCommand(CommandContext context)
        : base("show", "Shows the messages of a line in their order, with every failed attempt, as JSON.")
    {
        _line = new LineArguments(this);
        _host = new HostOptions(this);
        SetAction((result, cancellationToken) => ShowAsync(result, context, cancellationToken));
    }

    private async Task<int> ShowAsync(ParseResult result, CommandContext context, CancellationToken cancellationToken)
    {
        using var client = _host.Connect(result, context);
        var messages = await client.GetAsync<Page<WaitingMessage>>($"{_line.PathOf(result)}?limit=1000", cancellationToken);
        context.Output.WriteLine(CommandJson.Write(messages.Items));
        return ExitCode.Done;
    }
}
