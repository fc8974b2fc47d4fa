using System.CommandLine;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;

namespace Esb.Host.Commands;

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
