using Esb.Configuration.Settings;
using Esb.Core.Endpoints;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Host.Management;
using Esb.Host.Management.Description;

namespace Esb.Host.Commands.Documents;

/// <summary>The pages of the reference that follow from the program itself.</summary>
internal static class ReferencePages
{
    /// <summary>The name of each file, and its text.</summary>
    public static IEnumerable<(string Name, string Text)> All(CommandContext context)
    {
        yield return ("commands.md", CommandPage.Write(EsbCommandLine.Commands(context)));
        yield return ("api.md", Api());
        yield return ("kinds.md", Kinds(SettingsCatalog.From(context.Services())));
        yield return ("log-events.md", LogEventPage.Write());
        yield return ("metrics.md", MetricPage.Write());
    }

    /// <summary>The pages about settings in a folder, with their tables as they are now.</summary>
    public static IEnumerable<(string Name, string Text)> Settings(CommandContext context, string folder)
    {
        var tables = SettingTables.Of(SettingsCatalog.From(context.Services()));
        foreach (var file in Directory.Exists(folder) ? Directory.GetFiles(folder, "*.md") : [])
            yield return (Path.GetFileName(file), SettingPage.Write(File.ReadAllText(file), tables));
    }

    private static string Api() =>
        MarkdownPage.Write(
            "Routes of the management API",
            "Everything about bodies and answers: `GET /api/openapi.json`. How to use it: [the guide](../guides/api.md).",
            [
                "| Route | Role | Does |",
                "| --- | --- | --- |",
                .. ApiCatalog
                    .Described.OrderBy(route => route.Path, StringComparer.Ordinal)
                    .ThenBy(route => route.Method, StringComparer.Ordinal)
                    .Select(route => $"| `{route.Method} {route.Path}` | {RoleOf(route)} | {route.Summary}{QueryOf(route)} |"),
            ]
        );

    private static string RoleOf(ApiRoute route) =>
        route.Path.StartsWith("/api/", StringComparison.Ordinal)
            ? RouteRoles.Of(route.Method, route.Path).ToString().ToLowerInvariant()
            : "none";

    private static string QueryOf(ApiRoute route) =>
        route.Query.Count == 0 ? "" : $" Query: {string.Join(", ", route.Query.Select(parameter => $"`{parameter.Name}`"))}.";

    private static string Kinds(SettingsCatalog catalog) =>
        MarkdownPage.Write(
            "Sections, endpoint types, steps, transports and stores",
            "What a configuration may name; a kind that is planned is refused by its name. Settings: "
                + "[configuration](configuration/index.md).",
            [
                .. Table("Sections", catalog.Sections.Select(section => (section.Name, (string?)section.Description))),
                .. Table("Endpoint types", KindsOf(catalog, typeof(EndpointConfig))),
                .. Table("Steps", KindsOf(catalog, typeof(StepConfig))),
                .. Table("Transports", KindsOf(catalog, typeof(TransportConfig))),
                .. Table("Stores", KindsOf(catalog, typeof(StoreConfig))),
            ]
        );

    private static IEnumerable<(string, string?)> KindsOf(SettingsCatalog catalog, Type type) =>
        catalog.KindsOf(type).Select(kind => (kind.Kind, kind.Settings is null ? null : kind.Description));

    private static IEnumerable<string> Table(string title, IEnumerable<(string Name, string? Description)> rows) =>
        new[] { "", $"## {title}", "", "| Name | What it is |", "| --- | --- |" }.Concat(
            rows.OrderBy(row => row.Name, StringComparer.Ordinal)
                .Select(row => $"| `{row.Name}` | {MarkdownPage.Cell(row.Description ?? "planned")} |")
        );
}
