using System.CommandLine;
using Esb.Host.Management;

namespace Esb.Host.Commands;

/// <summary>Which running host a command asks.</summary>
internal sealed class HostOptions
{
    private readonly Option<string> _url = new("--url") { Description = "The management address of a running host.", DefaultValueFactory = _ => ManagementConfig.DefaultUrl };
    private readonly Option<string?> _keyFile = new("--key-file") { Description = "The file with its key, where the environment variable ESB_KEY does not hold it.", DefaultValueFactory = _ => ManagementKey.DefaultFile };

    public HostOptions(Command command)
    {
        _url.Validators.Add(result =>
        {
            if (!Uri.TryCreate(result.GetValueOrDefault<string>(), UriKind.Absolute, out var url) || url.Scheme is not ("http" or "https")) result.AddError("--url: expected an address such as http://127.0.0.1:8081");
            else if (url.UserInfo.Length > 0) result.AddError("--url: secrets on a command line are seen by everybody on this machine; use the key file or the environment variable ESB_KEY");
        });
        command.Add(_url);
        command.Add(_keyFile);
    }

    /// <summary>A client of that host.</summary>
    public ManagementClient Connect(ParseResult result, CommandContext context) =>
        new(new Uri(result.GetRequiredValue(_url)), FindKey(result.GetValue(_keyFile)!, context));

    private static string? FindKey(string file, CommandContext context)
    {
        if (context.Variables.TryGetValue("ESB_KEY", out var key) && key.Length > 0) return key;
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
