namespace Esb.Host.Logging;

/// <summary>Categories as people may read them.</summary>
internal static class LogCategory
{
    /// <summary>Of our own types the project, <c>topics</c>; of others' the library, <c>masstransit</c>.</summary>
    public static string Shorten(string category)
    {
        var parts = category.Split('.');
        var part = parts[0] switch
        {
            "Esb" when parts.Length > 1 => parts[1],
            "Microsoft" or "System" => parts[^1],
            _ => parts[0],
        };
        return part.ToLowerInvariant();
    }
}
