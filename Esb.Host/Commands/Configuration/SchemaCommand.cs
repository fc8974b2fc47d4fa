using System.CommandLine;
using Esb.Configuration;
using Esb.Configuration.Settings;
using Esb.Core.Configuration;

namespace Esb.Host.Commands.Configuration;

/// <summary><c>esb schema [config]</c></summary>
internal sealed class SchemaCommand : Command
{
    private readonly Argument<string?> _config = new("config")
    {
        Description = "A configuration: the schema then offers the names of its endpoints, processes and topics.",
        Arity = ArgumentArity.ZeroOrOne,
    };

    public SchemaCommand(CommandContext context)
        : base("schema", "Writes the JSON Schema of configurations.")
    {
        Add(_config);
        _config.Validators.Add(result =>
        {
            if (result.GetValueOrDefault<string?>() is ['-', ..] option)
                result.AddError($"'{option}' is no option of this command{NearestName.Hint(option, ["--help"])}");
        });
        SetAction(result =>
        {
            var catalog = SettingsCatalog.From(context.Services());
            var schema = SchemaWriter.Write(catalog, result.GetValue(_config) is { } path ? Read(path, catalog, context) : null);
            context.Output.WriteLine(schema.ToJsonString(JsonStyle.Indented));
        });
    }

    // A configuration that is being written has errors; its names are of use nevertheless.
    private static EsbConfiguration Read(string path, SettingsCatalog catalog, CommandContext context)
    {
        var errors = new ConfigErrors();
        return new ConfigurationReader(catalog).ReadDraft(path, context.Variables, errors)
            ?? throw new ConfigurationRefusedException(errors.All);
    }
}
