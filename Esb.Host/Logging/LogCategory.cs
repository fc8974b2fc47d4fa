namespace Esb.Host.Logging;

/// <summary>Readable names of log categories.</summary>
internal static class LogCategory
{
    // More specific names first.
    private static readonly (string Namespace, string Category)[] Kept =
    [
        ("Esb.Configuration", "Esb.Core.Configuration"),
        ("Esb.Delivery.Intake", "Esb.Endpoints.Intake"),
        ("Esb.Delivery.Replay", "Esb.Endpoints.Replay"),
        ("Esb.Delivery.SingleInstance", "Esb.Endpoints.SingleInstance"),
        ("Esb.Delivery", "Esb.Endpoints.Delivery"),
    ];

    /// <summary>The category of a type or namespace: its own name, or its former name if it has moved to another project.</summary>
    public static string Of(string name)
    {
        foreach (var (place, category) in Kept)
        {
            if (!name.StartsWith(place, StringComparison.OrdinalIgnoreCase))
                continue;
            if (name.Length == place.Length || name[place.Length] == '.')
                return category + name[place.Length..];
        }

        return name;
    }

    /// <summary>The project for types of the bus, such as <c>topics</c>; the library for others, such as <c>masstransit</c>.</summary>
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
