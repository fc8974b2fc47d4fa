using System.CommandLine;
using Esb.Host.Reloading;

namespace Esb.Host.Commands.Versions;

/// <summary>The options of commands that put another version into service, and their output.</summary>
internal sealed class ExchangeOptions
{
    private readonly Option<string?> _reason = new("--reason") { Description = "Why, for the list of versions and the audit." };
    private readonly Option<bool> _migrate = new("--migrate")
    {
        Description = "Also replaces queues and tables that must change, and moves what waits; hosts release them meanwhile.",
    };

    private readonly Option<bool> _force = Force();

    public ExchangeOptions(Command command)
    {
        command.Add(_force);
        command.Add(_reason);
        command.Add(_migrate);
    }

    public string? Reason(ParseResult result) => result.GetValue(_reason);

    public bool Migrate(ParseResult result) => result.GetValue(_migrate);

    public bool Force(ParseResult result) => result.GetValue(_force);

    /// <summary>The option that agrees to suspend instances of workflows.</summary>
    public static Option<bool> Force() =>
        new("--force") { Description = "Also where instances of workflows could not go on: they are suspended (ESB-WFL-NEEDED)." };

    public static async Task WriteAsync(ReloadResult done, TextWriter output)
    {
        foreach (var line in done.Changes)
            await output.WriteLineAsync($"  {line}");
        await output.WriteLineAsync(
            done.Changes.Count == 0
                ? $"Nothing has changed: revision {done.After} runs on."
                : $"{(done.Version is { } version ? $"Version {version}, revision" : "Revision")} {done.After} is in service, in place of "
                    + $"{done.Before}, on {string.Join(", ", done.Hosts)}."
        );
    }
}
