namespace Esb.Host.Logging;

/// <summary>Categories as people may read them.</summary>
internal static class LogCategory
{
    // The more special first.
    private static readonly (string Namespace, string Category)[] Kept =
    [
        ("Esb.Configuration", "Esb.Core.Configuration"),
        ("Esb.Delivery.Intake", "Esb.Endpoints.Intake"),
        ("Esb.Delivery.Replay", "Esb.Endpoints.Replay"),
        ("Esb.Delivery.SingleInstance", "Esb.Endpoints.SingleInstance"),
        ("Esb.Delivery", "Esb.Endpoints.Delivery"),
    ];

    /// <summary>The category of a type or namespace: its own name, or the one that it had before it moved to another project.</summary>
    public static string Of(string name)
    {
        foreach (var (place, category) in Kept)
        {
            if (!name.StartsWith(place, StringComparison.OrdinalIgnoreCase)) continue;
            if (name.Length == place.Length || name[place.Length] == '.') return category + name[place.Length..];
        }

        return name;
    }

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
