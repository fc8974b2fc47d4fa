using System.CommandLine;
using Esb.Host.Commands.Versions;
using Esb.Host.Reloading;

namespace Esb.Host.Commands.Configuration;

/// <summary><c>esb reload [--migrate] [--force]</c>: makes a running host reload its configuration.</summary>
internal sealed class ReloadCommand : Command
{
    private readonly HostOptions _host;
    private readonly Option<bool> _migrate = new("--migrate")
    {
        Description = "Also replaces queues and tables that must change, and moves what waits; hosts release them meanwhile.",
    };

    private readonly Option<bool> _force = ExchangeOptions.Force();

    public ReloadCommand(CommandContext context)
        : base("reload", "Makes a running host read its configuration again and exchange only what has changed.")
    {
        Add(_migrate);
        Add(_force);
        _host = new HostOptions(this);
        SetAction((result, cancellationToken) => ReloadAsync(result, context, cancellationToken));
    }

    private async Task<int> ReloadAsync(ParseResult result, CommandContext context, CancellationToken cancellationToken)
    {
        using var client = _host.Connect(result, context);
        var reloaded = await client.PostAsync<ReloadResult>(
            $"api/configuration/{(result.GetValue(_migrate) ? "migrate" : "reload")}{(result.GetValue(_force) ? "?force=true" : "")}",
            new { },
            cancellationToken
        );
        foreach (var line in reloaded.Changes)
            await context.Output.WriteLineAsync($"  {line}");
        await context.Output.WriteLineAsync(
            reloaded.Changes.Count == 0
                ? $"Nothing has changed: revision {reloaded.After} runs on."
                : $"Revision {reloaded.After} is in service, in place of {reloaded.Before}, on {string.Join(", ", reloaded.Hosts)}."
        );
        return ExitCode.Done;
    }
}
