using System.CommandLine;
using Esb.Configuration.Settings;
using Esb.Core.Configuration;

namespace Esb.Host.Commands.Configuration;

/// <summary><c>esb schema</c></summary>
internal sealed class SchemaCommand : Command
{
    public SchemaCommand(CommandContext context)
        : base("schema", "Writes the JSON Schema of everything that a configuration may say.")
    {
        SetAction(_ =>
        {
            var schema = SchemaWriter.Write(SettingsCatalog.From(context.Services()));
            context.Output.WriteLine(schema.ToJsonString(JsonStyle.Indented));
        });
    }
}
