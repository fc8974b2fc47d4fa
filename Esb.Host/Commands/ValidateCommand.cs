using System.CommandLine;
using System.Text.Json;
using Esb.Core.Configuration;
using Esb.Host.Composition;

namespace Esb.Host.Commands;

/// <summary><c>esb validate config [--json]</c></summary>
internal sealed class ValidateCommand : Command
{
    private static readonly JsonSerializerOptions Json = new(JsonStyle.Indented) { PropertyNamingPolicy = JsonNamingPolicy.CamelCase };

    private readonly Argument<string> _config = new("config") { Description = "A configuration: a file, or a folder with *.json." };
    private readonly Option<bool> _json = new("--json") { Description = "Writes the result as JSON, for programs." };

    public ValidateCommand(CommandContext context)
        : base("validate", "Checks a configuration and reports everything that is wrong; starts nothing.")
    {
        Add(_config);
        Add(_json);
        SetAction((result, _) => ValidateAsync(context, result.GetRequiredValue(_config), result.GetValue(_json)));
    }

    private static async Task<int> ValidateAsync(CommandContext context, string path, bool json)
    {
        try
        {
            await using var services = await BusServices.BuildAsync(path, context.Variables, context.Services());
            var configuration = services.GetRequiredService<EsbConfiguration>();
            var warnings = services.GetRequiredService<ConfigErrors>().Warnings;
            context.Output.WriteLine(json ? Describe(configuration, [], warnings) : DescribeForPeople(configuration, warnings));
            return ExitCode.Done;
        }
        catch (ConfigurationRefusedException ex) when (json)
        {
            context.Output.WriteLine(Describe(null, ex.Errors, []));
            return ExitCode.Configuration;
        }
    }

    private static string DescribeForPeople(EsbConfiguration configuration, IReadOnlyList<ConfigError> warnings)
    {
        var valid = $"{configuration.Name}, revision {configuration.Revision}: valid";
        if (warnings.Count == 0) return $"{valid}.";
        var count = warnings.Count == 1 ? "1 warning" : $"{warnings.Count} warnings";
        return string.Join(Environment.NewLine, warnings.Select(warning => $"  {warning}").Prepend($"{valid}, {count}."));
    }

    private static string Describe(EsbConfiguration? configuration, IReadOnlyList<ConfigError> errors, IReadOnlyList<ConfigError> warnings) => JsonSerializer.Serialize(
        new
        {
            valid = errors.Count == 0,
            name = configuration?.Name,
            revision = configuration?.Revision,
            errors = errors.Select(Describe),
            warnings = warnings.Select(Describe),
        },
        Json);

    private static object Describe(ConfigError error) => new { error.Code, error.Path, error.Value, error.Expected, origin = error.Origin?.ToString() };
}
