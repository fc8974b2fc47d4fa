using System.Reflection;
using Esb.Configuration;

namespace Esb.Host.Logging;

/// <summary>The categories that accept a level: a part of the bus as shown in the log (<c>topics</c>), a type or namespace of the bus
/// (<c>Esb.Endpoints.Http</c>), a library (<c>Npgsql</c>).</summary>
internal static class LogCategories
{
    /// <summary>Stands for every category without a level of its own.</summary>
    public const string Default = "default";

    private const string Prefix = "Esb.";

    private static readonly string[] Parts = ["core", "content", "topics", "endpoints", "workflows", "audit", "storage", "host"];

    /// <summary>The full name of a category.</summary>
    /// <param name="name">The name as entered by an operator.</param>
    /// <param name="expected">The accepted values, if the result is null.</param>
    public static string? Resolve(string name, out string expected)
    {
        expected =
            $"expected {Default}, one of {string.Join(", ", Parts)}, a namespace or type of ours such as Esb.Endpoints.Http, or a "
            + $"library such as Npgsql{NearestName.Hint(name, Parts)}";
        if (name.Equals(Default, StringComparison.OrdinalIgnoreCase))
            return Default;
        if (Array.Find(Parts, part => part.Equals(name, StringComparison.OrdinalIgnoreCase)) is { } found)
            return $"{Prefix}{char.ToUpperInvariant(found[0])}{found[1..]}";
        if (name.StartsWith(Prefix, StringComparison.OrdinalIgnoreCase))
            return IsOurs(LogCategory.Of(name)) ? LogCategory.Of(name) : null;
        return IsLibrary(name) ? name : null;
    }

    private static bool IsOurs(string category) =>
        Loaded
            .Where(assembly => assembly.GetName().Name!.StartsWith("esb", StringComparison.OrdinalIgnoreCase)) // the program is named esb
            .SelectMany(assembly => assembly.GetTypes())
            .Any(type => type.FullName is { } name && IsIn(category, LogCategory.Of(name)));

    private static bool IsIn(string category, string name) =>
        name.StartsWith(category, StringComparison.OrdinalIgnoreCase)
        && (name.Length == category.Length || name[category.Length] is '.' or '`');

    private static bool IsLibrary(string name)
    {
        var root = name.Split('.')[0];
        return root.Length > 0
            && !root.Equals("Esb", StringComparison.OrdinalIgnoreCase)
            && Loaded.Any(assembly => assembly.GetName().Name!.Split('.')[0].Equals(root, StringComparison.OrdinalIgnoreCase));
    }

    private static Assembly[] Loaded => AppDomain.CurrentDomain.GetAssemblies();
}
