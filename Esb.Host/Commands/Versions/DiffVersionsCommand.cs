using System.CommandLine;
using Esb.Host.Versions;

namespace Esb.Host.Commands.Versions;

/// <summary><c>esb versions diff N M</c></summary>
internal sealed class DiffVersionsCommand : Command
{
    private readonly Argument<long> _from = VersionsCommand.Number("from", "The earlier version.");
    private readonly Argument<long> _to = VersionsCommand.Number("to", "The later version.");
    private readonly HostOptions _host;

    public DiffVersionsCommand(CommandContext context)
        : base("diff", "Shows the lines that differ between two versions, maps and schemas included.")
    {
        Add(_from);
        Add(_to);
        _host = new HostOptions(this);
        SetAction((result, cancellationToken) => DiffAsync(result, context, cancellationToken));
    }

    private async Task<int> DiffAsync(ParseResult result, CommandContext context, CancellationToken cancellationToken)
    {
        using var client = _host.Connect(result, context);
        var difference = await client.GetAsync<VersionDifference>(
            $"api/configuration/versions/diff?from={result.GetRequiredValue(_from)}&to={result.GetRequiredValue(_to)}",
            cancellationToken
        );
        foreach (var line in difference.Lines)
            await context.Output.WriteLineAsync(line);
        if (difference.Lines.Count == 0)
            await context.Error.WriteLineAsync("Nothing differs.");
        return ExitCode.Done;
    }
}
