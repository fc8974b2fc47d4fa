using System.Text.Json.Nodes;
using Esb.Configuration.Compiling;
using Esb.Core.Configuration;
using Esb.Core.Workflows;

namespace Esb.Host.Composition;

/// <summary>Compiles kept definitions of workflows with a configuration: endpoints, topics and connections are those of the
/// configuration.</summary>
internal sealed class DefinitionCompiler(ConfigurationSource source)
{
    private static readonly string[] Sections = ["workflows", "processes", "maps", "schemas", "formats", "namespaces"];

    /// <summary>The first errors of a definition that does not compile, on one line.</summary>
    public static string Summary(ConfigurationRefusedException refused) =>
        string.Join(" ", refused.Errors.Take(3).Select(error => $"{error.Code} {error.Describe()}"));

    /// <summary>Tells why a definition does not compile with a configuration; null if it does.</summary>
    public string? FindObstacle(StoredDefinition definition, BusModel model)
    {
        var folder = Directory.CreateTempSubdirectory("esb-definition-");
        try
        {
            Compile(definition, model, folder.FullName);
            return null;
        }
        catch (ConfigurationRefusedException ex)
        {
            return Summary(ex);
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    /// <summary>Compiles a definition, and writes the files of its maps and schemas into a folder.</summary>
    /// <exception cref="ConfigurationRefusedException">It does not compile.</exception>
    public BusModel Compile(StoredDefinition definition, BusModel model, string folder)
    {
        CopyContents(model, folder);
        var file = Path.Combine(folder, "esb.json");
        File.WriteAllText(file, ConfigurationOf(definition, model, folder).ToJsonString());
        return source.Compile(file);
    }

    // Those of a version; others are found where the configuration belongs.
    private static void CopyContents(BusModel model, string folder)
    {
        if (model.Configuration.Contents is not { } contents)
            return;
        foreach (var path in model.ContentPaths)
        {
            var name = Path.GetRelativePath(contents, path);
            if (name.StartsWith("..", StringComparison.Ordinal) || Path.IsPathRooted(name))
                continue;
            var copy = Path.Combine(folder, name);
            Directory.CreateDirectory(Path.GetDirectoryName(copy)!);
            File.Copy(path, copy, overwrite: true);
        }
    }

    private static JsonObject ConfigurationOf(StoredDefinition definition, BusModel model, string folder)
    {
        var configuration = model.Configuration.WrittenJson;
        var pinned = JsonNode.Parse(definition.Content)!.AsObject();
        foreach (var section in Sections)
        {
            if (pinned[section] is not JsonObject things)
                continue;
            if (configuration[section] is not JsonObject target)
                configuration[section] = target = [];
            foreach (var (name, thing) in things)
                target[name] = WithFile(section, name, thing!.DeepClone(), pinned["files"] as JsonObject, folder);
        }

        return configuration;
    }

    private static JsonNode WithFile(string section, string name, JsonNode thing, JsonObject? files, string folder)
    {
        if (files?[$"{section}.{name}"] is not { } text)
            return thing;
        var written = thing is JsonObject { } ? thing["file"]!.GetValue<string>() : thing.GetValue<string>();
        var path = Path.Combine(folder, $"{section}-{name}{Path.GetExtension(written)}");
        File.WriteAllText(path, text.GetValue<string>());
        if (thing is not JsonObject members)
            return JsonValue.Create(path);
        members["file"] = path;
        return members;
    }
}
