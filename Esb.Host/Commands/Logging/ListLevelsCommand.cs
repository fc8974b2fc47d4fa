using System.CommandLine;
using System.Globalization;
using Esb.Host.Logging;
using Esb.Host.Management.Logging;

namespace Esb.Host.Commands.Logging;

/// <summary><c>esb log list</c></summary>
internal sealed class ListLevelsCommand : Command
{
    private static readonly string[] Header = ["CATEGORY", "LEVEL", "UNTIL"];

    private readonly ListOutput _list;
    private readonly HostOptions _host;

    public ListLevelsCommand(CommandContext context)
        : base("list", "Lists the levels of the host that is asked.")
    {
        _list = new ListOutput(this);
        _host = new HostOptions(this);
        SetAction((result, cancellationToken) => ListAsync(result, context, cancellationToken));
    }

    private async Task<int> ListAsync(ParseResult result, CommandContext context, CancellationToken cancellationToken)
    {
        using var client = _host.Connect(result, context);
        var log = await client.GetAsync<LogView>("api/log", cancellationToken);
        if (_list.TryWrite(result, context, log))
            return ExitCode.Done;
        TextTable.Write(
            context.Output,
            [
                Header,
                [LogCategories.Default, CommandJson.NameOf(log.Default), ""],
                .. log.Changed.Where(changed => changed.Category != LogCategories.Default).Select(Row),
            ]
        );
        return ExitCode.Done;
    }

    private static string[] Row(ChangedLevel changed) =>
        [changed.Category, CommandJson.NameOf(changed.Level), changed.Until?.ToString("u", CultureInfo.InvariantCulture) ?? ""];
}
