using System.CommandLine;
using System.Text.Json;
using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Core.Configuration;
using Esb.Host.Composition;

namespace Esb.Host.Commands.Configuration;

/// <summary><c>esb validate config [--store] [--json]</c></summary>
internal sealed class ValidateCommand : Command
{
    private static readonly JsonSerializerOptions Json = new(JsonStyle.Indented) { PropertyNamingPolicy = JsonNamingPolicy.CamelCase };

    private readonly Argument<string> _config = new("config")
    {
        Description = "A configuration: a file, or a folder with esb.json and *.esb.json.",
    };
    private readonly Option<bool> _store = new("--store")
    {
        Description =
            "Also reads the store of the configuration, and compiles the definitions that living instances of workflows need: an error "
            + "for each that this program and this configuration would suspend. Changes nothing, and works beside hosts.",
    };
    private readonly Option<bool> _json = new("--json") { Description = "Writes the result as JSON, for programs." };

    public ValidateCommand(CommandContext context)
        : base("validate", "Checks a configuration and reports all errors; starts nothing.")
    {
        Add(_config);
        Add(_store);
        Add(_json);
        SetAction(
            (result, cancellationToken) =>
                ValidateAsync(context, result.GetRequiredValue(_config), result.GetValue(_store), result.GetValue(_json), cancellationToken)
        );
    }

    private static async Task<int> ValidateAsync(
        CommandContext context,
        string path,
        bool store,
        bool json,
        CancellationToken cancellationToken
    )
    {
        try
        {
            var source = ConfigurationSource.Of(path, context.Variables, context.Services());
            var model = source.Compile();
            var needed = store ? await CheckStoreAsync(context, path, source, model, cancellationToken) : [];
            await context.Output.WriteLineAsync(
                json ? Describe(model, [], model.Warnings, needed) : DescribeForPeople(model, model.Warnings, needed)
            );
            return ExitCode.Done;
        }
        catch (ConfigurationRefusedException ex) when (json)
        {
            await context.Output.WriteLineAsync(Describe(null, ex.Errors, [], []));
            return ExitCode.Configuration;
        }
    }

    private static async Task<IReadOnlyList<NeededDefinition>> CheckStoreAsync(
        CommandContext context,
        string path,
        ConfigurationSource source,
        BusModel model,
        CancellationToken cancellationToken
    )
    {
        await using var reader = BusServices.FindStore(path, context.Variables, context.Services()).Read(takesEarlier: true);
        var needed = await NeededDefinitions.CheckAsync(reader.Workflows, new DefinitionCompiler(source), model, cancellationToken);
        var errors = needed.Where(one => one.Obstacle is not null).Select(one => one.ToError()).ToList();
        return errors.Count == 0 ? needed : throw new ConfigurationRefusedException(errors) { Revision = model.Revision };
    }

    private static string DescribeForPeople(BusModel bus, IReadOnlyList<ConfigError> warnings, IReadOnlyList<NeededDefinition> needed)
    {
        var valid = $"{bus.Configuration.Name}, revision {bus.Revision}: valid";
        if (warnings.Count > 0)
            valid += warnings.Count == 1 ? ", 1 warning" : $", {warnings.Count} warnings";
        return string.Join(
            Environment.NewLine,
            [$"{valid}.", .. warnings.Select(warning => $"  {warning}"), .. needed.Select(definition => $"  {definition}")]
        );
    }

    private static string Describe(
        BusModel? bus,
        IReadOnlyList<ConfigError> errors,
        IReadOnlyList<ConfigError> warnings,
        IReadOnlyList<NeededDefinition> needed
    ) =>
        JsonSerializer.Serialize(
            new
            {
                valid = errors.Count == 0,
                name = bus?.Configuration.Name,
                revision = bus?.Revision,
                errors = errors.Select(Describe),
                warnings = warnings.Select(Describe),
                definitions = needed.Select(definition => new
                {
                    definition.Workflow,
                    definition.Hash,
                    definition.Instances,
                }),
            },
            Json
        );

    private static object Describe(ConfigError error) =>
        new
        {
            error.Code,
            error.Path,
            error.Value,
            error.Expected,
            origin = error.Origin?.ToString(),
        };
}
