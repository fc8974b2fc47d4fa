namespace Esb.Core.Configuration.Settings;

/// <summary>Base of all settings, with their position. Settings are immutable and set once, by the reader.</summary>
public abstract record SettingsRecord
{
    /// <summary>The path in the configuration, for errors found later.</summary>
    public string Path { get; init; } = "";

    /// <summary>The object's name in its section; empty if it has none.</summary>
    public string Name { get; init; } = "";

    /// <summary>Position of the object; <see cref="ConfigOrigin.Default"/> for a default.</summary>
    public ConfigOrigin Origin { get; init; } = ConfigOrigin.Default;

    /// <summary>The object as written, so that errors found later can name a property's value and position; null for a default.</summary>
    internal ConfigNode? Written { get; init; }

    /// <summary>Properties that could not be read; null for settings without errors.</summary>
    internal SettingFlaws? Flaws { get; init; }

    /// <summary>True if all properties were read. Incomplete settings may be checked further, but nothing can be created from
    /// them.</summary>
    public bool IsWhole => Flaws is null;

    /// <summary>True if these properties are as written, or were left out; otherwise they hold a default or an incomplete value, which is
    /// meaningless.</summary>
    /// <param name="properties">Their configured names.</param>
    public bool IsSound(params ReadOnlySpan<string> properties)
    {
        foreach (var property in properties)
        {
            if (Flaws?.Spares(property) == false)
                return false;
        }

        return true;
    }
}
