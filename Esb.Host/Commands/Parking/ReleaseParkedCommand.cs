using System.CommandLine;
using Esb.Host.Management.DeadLetters;
using Esb.Host.Management.Parking;

namespace Esb.Host.Commands.Parking;

/// <summary><c>esb parked release ENDPOINT LINE</c></summary>
internal sealed class ReleaseParkedCommand : Command
{
    private readonly Option<string?> _reason = new("--reason") { Description = "Why, for the record." };
    private readonly LineArguments _line;
    private readonly HostOptions _host;

    public ReleaseParkedCommand(CommandContext context)
        : base("release", "Tries the first message of a line again now, and those behind it once it succeeds.")
    {
        _line = new LineArguments(this);
        Add(_reason);
        _host = new HostOptions(this);
        SetAction((result, cancellationToken) => ReleaseAsync(result, context, cancellationToken));
    }

    private async Task<int> ReleaseAsync(ParseResult result, CommandContext context, CancellationToken cancellationToken)
    {
        using var client = _host.Connect(result, context);
        var released = await client.PostAsync<ReleaseReceipt>(
            $"{_line.PathOf(result)}/release",
            new ReasonBody { Reason = result.GetValue(_reason) },
            cancellationToken
        );
        context.Output.WriteLine($"{released.Line} at {released.Endpoint} is tried again");
        return ExitCode.Done;
    }
}
