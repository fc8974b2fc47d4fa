namespace Esb.Core.Configuration.Settings;

/// <summary>What all settings know of themselves: where they stand. Settings are immutable and set once, by the reader.</summary>
public abstract record SettingsRecord
{
    /// <summary>The path in the configuration, for errors found later.</summary>
    public string Path { get; init; } = "";

    /// <summary>The name under which the object stands in its section; empty for objects without one.</summary>
    public string Name { get; init; } = "";

    /// <summary>Where the object stands; of a default, <see cref="ConfigOrigin.Default"/>.</summary>
    public ConfigOrigin Origin { get; init; } = ConfigOrigin.Default;

    /// <summary>The object as it was written, so that errors found later can name a property's value and place; null of a default.</summary>
    internal ConfigNode? Written { get; init; }
}
