using System.Reflection;

namespace Esb.Host.Commands.Documents;

/// <summary>The reference of the events in the log.</summary>
internal static class LogEventPage
{
    public static string Write() =>
        MarkdownPage.Write(
            "Log events",
            "The number of an event is its id in JSON lines and in OpenTelemetry; names in braces are its attributes. How to see more: "
                + "[log levels](../operate/log-levels.md).",
            [
                "| Id | Level | Part | Message |",
                "| ---: | --- | --- | --- |",
                .. Events()
                    .OrderBy(found => found.Event.EventId)
                    .Select(found =>
                        $"| {found.Event.EventId} | {LevelOf(found.Event)} | {found.Part} | {MarkdownPage.Cell(found.Event.Message)} |"
                    ),
            ]
        );

    // The level of some depends on what happened.
    private static string LevelOf(LoggerMessageAttribute found) =>
        found.Level == LogLevel.None ? "varies" : found.Level.ToString().ToLowerInvariant();

    private static IEnumerable<(string Part, LoggerMessageAttribute Event)> Events() =>
        from assembly in Assemblies()
        from type in assembly.GetTypes()
        from method in type.GetMethods(
            BindingFlags.DeclaredOnly | BindingFlags.Instance | BindingFlags.Static | BindingFlags.NonPublic | BindingFlags.Public
        )
        let found = method.GetCustomAttribute<LoggerMessageAttribute>()
        where found is not null
        select (assembly.GetName().Name!.Replace("Esb.", "", StringComparison.Ordinal).ToLowerInvariant(), found);

    private static IEnumerable<Assembly> Assemblies()
    {
        var host = typeof(LogEventPage).Assembly;
        return host.GetReferencedAssemblies()
            .Where(name => name.Name!.StartsWith("Esb.", StringComparison.Ordinal))
            .Select(Assembly.Load)
            .Append(host);
    }
}
