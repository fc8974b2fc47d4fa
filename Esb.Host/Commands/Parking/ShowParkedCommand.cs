using System.CommandLine;
using Esb.Core.Replays;
using Esb.Host.Management;

namespace Esb.Host.Commands.Parking;

/// <summary><c>esb parked show ENDPOINT LINE [--message ID] [--body FILE]</c></summary>
internal sealed class ShowParkedCommand : Command
{
    private readonly LineArguments _line;
    private readonly Option<Guid?> _message = new("--message") { Description = "Only the message of this id." };
    private readonly Option<string?> _body = new("--body")
    {
        Description = "Writes the body of the message, or of the first one, to this file.",
    };
    private readonly HostOptions _host;

    public ShowParkedCommand(CommandContext context)
        : base("show", "Shows the messages of a line in their order, with headers and every failed attempt, as JSON.")
    {
        _line = new LineArguments(this);
        Add(_message);
        Add(_body);
        _host = new HostOptions(this);
        SetAction((result, cancellationToken) => ShowAsync(result, context, cancellationToken));
    }

    private async Task<int> ShowAsync(ParseResult result, CommandContext context, CancellationToken cancellationToken)
    {
        using var client = _host.Connect(result, context);
        var messages = await client.GetAsync<Page<WaitingMessage>>($"{_line.PathOf(result)}?limit=1000", cancellationToken);
        var wanted = result.GetValue(_message);
        var shown = messages.Items.Where(message => wanted is null || message.Id == wanted).ToList();
        if (shown.Count == 0)
            throw new CommandException(ExitCode.Usage, "ESB-API-NOTFOUND", $"The message {wanted} does not wait in this line.");
        context.Output.WriteLine(CommandJson.Write(shown));
        if (result.GetValue(_body) is not { } file)
            return ExitCode.Done;
        var body = await client.DownloadAsync($"{_line.PathOf(result)}/{shown[0].Id}/body", cancellationToken);
        await CommandFiles.WriteAsync(file, body, cancellationToken);
        return ExitCode.Done;
    }
}
