using System.CommandLine;
using System.CommandLine.Parsing;
using Esb.Host.Management;

namespace Esb.Host.Commands;

/// <summary>The options that select the running host of a command.</summary>
internal sealed class HostOptions
{
    private readonly Option<string> _url = new Option<string>("--url")
    {
        Description = "The management address of a running host.",
        DefaultValueFactory = _ => ManagementConfig.DefaultUrl,
    }.AsUrl();

    private readonly Option<string> _keyFile = new("--key-file")
    {
        Description = "The file with its key, where the environment variable ESB_KEY does not hold it.",
        DefaultValueFactory = _ => ManagementKey.DefaultFile,
    };

    public HostOptions(Command command)
    {
        command.Add(_url);
        command.Add(_keyFile);
    }

    /// <summary>Whether the command line names a host.</summary>
    public bool AreGiven(CommandResult result) => result.GetResult(_url) is { Implicit: false };

    /// <summary>A client of that host.</summary>
    public ManagementClient Connect(ParseResult result, CommandContext context) =>
        new(new Uri(result.GetRequiredValue(_url)), FindKey(result.GetRequiredValue(_keyFile), context))
        {
            KeyFile = result.GetRequiredValue(_keyFile),
            ReachTime = context.ReachTime,
        };

    private static string? FindKey(string file, CommandContext context)
    {
        if (context.Variables.TryGetValue("ESB_KEY", out var key) && key.Length > 0)
            return key;
        try
        {
            return File.Exists(file) ? File.ReadAllText(file).Trim() : null;
        }
        catch (UnauthorizedAccessException)
        {
            throw new CommandException(ExitCode.NotAuthorized, "ESB-CLI-KEY", $"This user may not read the key in {file}.");
        }
    }
}
