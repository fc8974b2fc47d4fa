using System.Text.Json.Nodes;
using Esb.Configuration.Compiling;
using Esb.Configuration.Revisions;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Core.Workflows;

namespace Esb.Host.Composition;

/// <inheritdoc cref="IPinnedDefinitions"/>
/// <remarks>Endpoints, topics and connections are those of the running configuration. Files of maps and schemas are written into the folder
/// of the store, under the hash of the definition.</remarks>
internal sealed class PinnedDefinitions(ConfigurationSource source, LiveRevisions revisions, StoreConfig store) : IPinnedDefinitions
{
    private static readonly string[] Sections = ["workflows", "processes", "maps", "schemas", "formats", "namespaces"];

    public IServiceProvider Open(StoredDefinition definition)
    {
        try
        {
            var folder = Directory
                .CreateDirectory(Path.Combine(Path.GetFullPath(store.Folder), "workflows", definition.Hash[..16]))
                .FullName;
            return revisions.Keep(Compile(definition, revisions.Current.Services, folder)).Services;
        }
        catch (ConfigurationRefusedException ex)
        {
            throw Refused(definition, Summary(ex), ex);
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            throw Refused(definition, "its files cannot be written", ex);
        }
    }

    public string? FindObstacle(StoredDefinition definition, IServiceProvider next)
    {
        var folder = Directory.CreateTempSubdirectory("esb-definition-");
        try
        {
            Compile(definition, next, folder.FullName);
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

    private static string Summary(ConfigurationRefusedException refused) =>
        string.Join(" ", refused.Errors.Take(3).Select(error => $"{error.Code} {error.Describe()}"));

    private BusModel Compile(StoredDefinition definition, IServiceProvider services, string folder)
    {
        var model = services.GetRequiredService<BusModel>();
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

    private static EsbException Refused(StoredDefinition definition, string reason, Exception inner) =>
        new(
            "ESB-WFL-VERSION",
            $"The definition {definition.Hash[..12]} of '{definition.Workflow}' does not compile any more: {reason}",
            FaultKind.Internal,
            inner
        );
}
