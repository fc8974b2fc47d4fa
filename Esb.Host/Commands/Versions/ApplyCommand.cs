using System.CommandLine;
using Esb.Configuration;
using Esb.Configuration.Settings;
using Esb.Core.Configuration;
using Esb.Core.Storage;
using Esb.Host.Composition;
using Esb.Host.Reloading;
using Esb.Host.Versions;

namespace Esb.Host.Commands.Versions;

/// <summary><c>esb apply config [--based-on N] [--reason TEXT] [--migrate] [--force]</c></summary>
internal sealed class ApplyCommand : Command
{
    private readonly Argument<string> _config = new("config")
    {
        Description = "A configuration: a file, or a folder with esb.json and *.esb.json.",
    };
    private readonly Option<long?> _basedOn = new("--based-on")
    {
        Description = "The version that it was made from; by default the one that esb versions show --to noted, or the running one.",
    };
    private readonly ExchangeOptions _options;
    private readonly HostOptions _host;

    public ApplyCommand(CommandContext context)
        : base("apply", "Makes a version of a configuration and puts it into service on every host, or on none, while they work.")
    {
        Add(_config);
        Add(_basedOn);
        _options = new ExchangeOptions(this);
        _host = new HostOptions(this);
        SetAction((result, cancellationToken) => ApplyAsync(result, context, cancellationToken));
    }

    /// <summary>Reads a configuration with its maps, schemas and other contents, as far as it compiles here: the host checks it.</summary>
    /// <exception cref="CommandException">A file cannot be read, or is outside of the folder.</exception>
    public static async Task<ConfigurationContent> ReadAsync(CommandContext context, string config, CancellationToken cancellationToken)
    {
        var (errors, outside) = (new ConfigErrors(), new List<string>());
        var services = context.Services();
        var draft =
            new ConfigurationReader(SettingsCatalog.From(services)).ReadDraft(config, context.Variables, errors)
            ?? throw new ConfigurationRefusedException(errors.All);
        var model = CompilePhase.Compile(services, draft, errors, context.Time);
        try
        {
            var content = await ContentFolder.ReadAsync(config, model, outside, cancellationToken);
            return outside.Count == 0
                ? content
                : throw new CommandException(
                    ExitCode.Configuration,
                    "ESB-CONFIG-CONTENT",
                    $"{outside[0]} is outside of the folder of the configuration, so a version cannot hold it."
                );
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            throw new CommandException(ExitCode.Usage, "ESB-CLI-FILE", $"{config} cannot be read: {ex.Message.TrimEnd('.')}.");
        }
    }

    private async Task<int> ApplyAsync(ParseResult result, CommandContext context, CancellationToken cancellationToken)
    {
        var config = result.GetRequiredValue(_config);
        var content = await ReadAsync(context, config, cancellationToken);
        using var client = _host.Connect(result, context);
        var basedOn =
            result.GetValue(_basedOn)
            ?? BaseFile.Read(config)
            ?? (await client.GetAsync<VersionList>("api/configuration/versions", cancellationToken)).Running;
        var done = await client.PostAsync<ReloadResult>(
            "api/configuration/apply",
            new AppliedConfiguration
            {
                Files = content.Files,
                Contents = content.Contents,
                BasedOn = basedOn,
                Reason = _options.Reason(result),
                Migrate = _options.Migrate(result),
                Force = _options.Force(result),
            },
            cancellationToken
        );
        if (done.Version is { } version && BaseFile.Read(config) is not null)
            BaseFile.Write(config, version);
        await ExchangeOptions.WriteAsync(done, context.Output);
        return ExitCode.Done;
    }
}
