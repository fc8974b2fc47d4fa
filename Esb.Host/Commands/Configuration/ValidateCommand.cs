using System.CommandLine;
using System.Text.Json;
using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Core.Configuration;
using Esb.Host.Composition;

namespace Esb.Host.Commands.Configuration;

/// <summary><c>esb validate config [--json]</c></summary>
internal sealed class ValidateCommand : Command
{
    private static readonly JsonSerializerOptions Json = new(JsonStyle.Indented) { PropertyNamingPolicy = JsonNamingPolicy.CamelCase };

    private readonly Argument<string> _config = new("config")
    {
        Description = "A configuration: a file, or a folder with esb.json and *.esb.json.",
    };
    private readonly Option<bool> _json = new("--json") { Description = "Writes the result as JSON, for programs." };

    public ValidateCommand(CommandContext context)
        : base("validate", "Checks a configuration and reports all errors; starts nothing.")
    {
        Add(_config);
        Add(_json);
        SetAction(result => Validate(context, result.GetRequiredValue(_config), result.GetValue(_json)));
    }

    private static int Validate(CommandContext context, string path, bool json)
    {
        try
        {
            var model = BusServices.Compile(path, context.Variables, context.Services());
            context.Output.WriteLine(json ? Describe(model, [], model.Warnings) : DescribeForPeople(model, model.Warnings));
            return ExitCode.Done;
        }
        catch (ConfigurationRefusedException ex) when (json)
        {
            context.Output.WriteLine(Describe(null, ex.Errors, []));
            return ExitCode.Configuration;
        }
    }

    private static string DescribeForPeople(BusModel bus, IReadOnlyList<ConfigError> warnings)
    {
        var valid = $"{bus.Configuration.Name}, revision {bus.Revision}: valid";
        if (warnings.Count == 0)
            return $"{valid}.";
        var count = warnings.Count == 1 ? "1 warning" : $"{warnings.Count} warnings";
        return string.Join(Environment.NewLine, warnings.Select(warning => $"  {warning}").Prepend($"{valid}, {count}."));
    }

    private static string Describe(BusModel? bus, IReadOnlyList<ConfigError> errors, IReadOnlyList<ConfigError> warnings) =>
        JsonSerializer.Serialize(
            new
            {
                valid = errors.Count == 0,
                name = bus?.Configuration.Name,
                revision = bus?.Revision,
                errors = errors.Select(Describe),
                warnings = warnings.Select(Describe),
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
