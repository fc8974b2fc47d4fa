using System.CommandLine;
using Esb.Host.Versions;

namespace Esb.Host.Commands.Versions;

/// <summary><c>esb versions list</c></summary>
internal sealed class ListVersionsCommand : Command
{
    private static readonly string[] Header = ["VERSION", "REVISION", "STATE", "KIND", "WHEN", "BY", "REASON"];

    private readonly HostOptions _host;
    private readonly ListOutput _list;

    public ListVersionsCommand(CommandContext context)
        : base("list", "Lists the kept versions, newest first, with time, author and reason.")
    {
        _list = new ListOutput(this);
        _host = new HostOptions(this);
        SetAction((result, cancellationToken) => ListAsync(result, context, cancellationToken));
    }

    private async Task<int> ListAsync(ParseResult result, CommandContext context, CancellationToken cancellationToken)
    {
        using var client = _host.Connect(result, context);
        var versions = await client.GetAsync<VersionList>("api/configuration/versions", cancellationToken);
        if (_list.TryWrite(result, context, versions.Items))
            return ExitCode.Done;
        if (versions.Items.Count == 0)
            await context.Error.WriteLineAsync("No version is kept yet.");
        else
            TextTable.Write(context.Output, versions.Items.Select(Row).Prepend(Header));
        return ExitCode.Done;
    }

    private static string[] Row(VersionView version) =>
        [
            $"{version.Number}",
            version.Revision,
            version.IsInService ? "in service" : "-",
            version.Kind,
            version.At.ToString("yyyy-MM-dd HH:mm:sszzz"),
            version.By,
            version.Reason?.ReplaceLineEndings(" ") ?? "-",
        ];
}
