using System.CommandLine;
using Esb.Host.Management.Logging;

namespace Esb.Host.Commands.Logging;

/// <summary><c>esb log set CATEGORY LEVEL</c></summary>
internal sealed class SetLevelCommand : Command
{
    private const string Configured = "configured";

    private static readonly Dictionary<string, LogLevel?> Levels = Enum.GetValues<LogLevel>()
        .ToDictionary(CommandJson.NameOf, level => (LogLevel?)level)
        .Append(new(Configured, null))
        .ToDictionary();

    private readonly Argument<string> _category = new("category")
    {
        Description = "default, a part of the bus as the log shows it (topics, endpoints …), a namespace or type of ours, or a library.",
    };
    private readonly Argument<string> _level = new("level") { Description = $"One of {string.Join(", ", Levels.Keys)}." };
    private readonly Option<string?> _for = new("--for")
    {
        Description = "Time after which it ends by itself, such as 10m; without it, it lasts until the hosts end.",
    };
    private readonly Option<bool> _thisHost = new("--this-host")
    {
        Description = "Only on the host that is asked, not on every host of the farm.",
    };
    private readonly HostOptions _host;

    public SetLevelCommand(CommandContext context)
        : base(
            "set",
            "Changes from which level on a category is logged, on every host of the farm, until they end: then the configuration "
                + "counts again."
        )
    {
        Add(_category);
        Add(_level);
        Add(_for);
        Add(_thisHost);
        _host = new HostOptions(this);
        _level.Validators.Add(result =>
        {
            if (result.Tokens is [{ Value: var text }] && !Levels.ContainsKey(text.ToLowerInvariant()))
                result.AddError($"level: expected one of {string.Join(", ", Levels.Keys)}");
        });
        SetAction((result, cancellationToken) => SetAsync(result, context, cancellationToken));
    }

    private async Task<int> SetAsync(ParseResult result, CommandContext context, CancellationToken cancellationToken)
    {
        var category = result.GetRequiredValue(_category);
        var body = new LogBody
        {
            Levels = new Dictionary<string, LogLevel?> { [category] = Levels[result.GetRequiredValue(_level).ToLowerInvariant()] },
            For = result.GetValue(_for),
            Hosts = result.GetValue(_thisHost) ? LogHosts.This : LogHosts.All,
        };
        using var client = _host.Connect(result, context);
        var log = await client.PatchAsync<LogView>("api/log", body, cancellationToken);
        await context.Output.WriteLineAsync($"the level of {category} is changed on {string.Join(", ", log.Hosts)}");
        return ExitCode.Done;
    }
}
