using System.Text.Json.Nodes;
using Esb.Configuration;
using Esb.Content.Schemas;
using Esb.Content.Transforms;
using Esb.Core.Processes;

namespace Esb.Workflows.Workflows.Compiling;

/// <summary>Collects what an instance or an interchange needs to end as it began: its steps, the processes that they run, and the maps,
/// schemas, formats and prefixes that any of them names.</summary>
internal sealed class PinnedContent(
    EsbConfiguration configuration,
    ProcessModels processes,
    IReadOnlyDictionary<string, MapConfig> maps,
    IReadOnlyDictionary<string, SchemaConfig> schemas
)
{
    /// <summary>The sections whose things are pinned beside processes.</summary>
    public static readonly IReadOnlyList<string> Sections = ["maps", "schemas", "formats", "namespaces"];

    /// <summary>JSON: the section <c>workflows</c> with the one workflow, the pinned things by section, and <c>files</c> with the text of
    /// their files.</summary>
    public string Of(WorkflowConfig config, IEnumerable<StepModel> steps)
    {
        var workflow = configuration.WrittenOf("workflows", config.Name);
        var content = new JsonObject { ["workflows"] = new JsonObject { [config.Name] = workflow?.DeepClone() } };
        return Complete(content, RunBy(steps));
    }

    /// <summary>JSON: the process, with what it runs and names, by section; null if the configuration does not write it under this
    /// name.</summary>
    public string? OfProcess(string process) =>
        configuration.WrittenOf("processes", process) is not null && processes.Find(process) is { } model
            ? Complete([], RunBy(model.Steps.Steps).Append(process))
            : null;

    private IEnumerable<string> RunBy(IEnumerable<StepModel> steps) => processes.Reached(steps).SelectMany(step => step.Traits.Runs);

    private string Complete(JsonObject content, IEnumerable<string> run)
    {
        content["processes"] = Named("processes", run.Distinct().Order(StringComparer.Ordinal));
        var texts = new HashSet<string>();
        AddTexts(content, texts);
        var files = new JsonObject();
        foreach (var section in Sections)
        {
            // A name that merely looks like one pins more than needed, which does no harm. Prefixes stand inside of expressions.
            var names = configuration
                .NamesIn(section)
                .Where(name => section == "namespaces" || texts.Contains(name))
                .Order(StringComparer.Ordinal)
                .ToList();
            if (names.Count > 0)
                content[section] = Named(section, names);
            foreach (var name in names)
            {
                if (FileOf(section, name) is { } path)
                    files[$"{section}.{name}"] = Read(path);
            }
        }

        if (files.Count > 0)
            content["files"] = files;
        return content.ToJsonString();
    }

    private string? FileOf(string section, string name) =>
        section switch
        {
            "maps" => maps.GetValueOrDefault(name)?.File,
            "schemas" => schemas.GetValueOrDefault(name)?.File,
            _ => null,
        };

    // The compiler of the file reports why it cannot be read.
    private static string Read(string path)
    {
        try
        {
            return File.ReadAllText(path);
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            return "";
        }
    }

    private JsonObject Named(string section, IEnumerable<string> names)
    {
        var things = new JsonObject();
        foreach (var name in names)
            things[name] = configuration.WrittenOf(section, name)?.DeepClone();
        return things;
    }

    private static void AddTexts(JsonNode? node, HashSet<string> texts)
    {
        switch (node)
        {
            case JsonObject members:
                foreach (var (_, value) in members)
                    AddTexts(value, texts);
                break;
            case JsonArray items:
                foreach (var item in items)
                    AddTexts(item, texts);
                break;
            case JsonValue value when value.TryGetValue<string>(out var text):
                texts.Add(text);
                break;
        }
    }
}
