using System.CommandLine;
using Esb.Host.Management.DeadLetters;
using Esb.Host.Management.Parking;

namespace Esb.Host.Commands.Parking;

/// <summary><c>esb parked discard ENDPOINT LINE --message ID|--all --reason "…"</c></summary>
internal sealed class DiscardParkedCommand : Command
{
    private readonly Option<Guid?> _message = new("--message") { Description = "The message." };
    private readonly Option<bool> _all = new("--all") { Description = "All messages of the line." };
    private readonly Option<string> _reason = new("--reason") { Description = "Why, for the record.", Required = true };
    private readonly LineArguments _line;
    private readonly HostOptions _host;

    public DiscardParkedCommand(CommandContext context)
        : base("discard", "Discards a message of a line, or all of them; the line continues with the rest.")
    {
        _line = new LineArguments(this);
        Add(_message);
        Add(_all);
        Add(_reason);
        Validators.Add(result =>
        {
            if (result.GetResult(_message) is null == !result.GetValue(_all))
                result.AddError("expected --message ID or --all");
        });
        _host = new HostOptions(this);
        SetAction((result, cancellationToken) => DiscardAsync(result, context, cancellationToken));
    }

    private async Task<int> DiscardAsync(ParseResult result, CommandContext context, CancellationToken cancellationToken)
    {
        using var client = _host.Connect(result, context);
        var body = new DiscardParkedBody
        {
            MessageId = result.GetValue(_message),
            All = result.GetValue(_all),
            Reason = result.GetRequiredValue(_reason),
        };
        var receipt = await client.PostAsync<DiscardReceipt>($"{_line.PathOf(result)}/discard", body, cancellationToken);
        context.Output.WriteLine($"{receipt.Discarded} parked messages discarded");
        return ExitCode.Done;
    }
}
