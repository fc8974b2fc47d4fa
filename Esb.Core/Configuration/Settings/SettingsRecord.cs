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

    /// <summary>What of it could not be read; null of settings without errors.</summary>
    internal SettingFlaws? Flaws { get; init; }

    /// <summary>Whether all of it could be read. What is not whole may be checked further, but nothing can be made from it.</summary>
    public bool IsWhole => Flaws is null;

    /// <summary>Whether these properties are what was written, or were left out; otherwise they hold a default or less than was meant, which says nothing.</summary>
    /// <param name="properties">Their configured names.</param>
    public bool IsSound(params ReadOnlySpan<string> properties)
    {
        foreach (var property in properties)
        {
            if (Flaws?.Spares(property) == false) return false;
        }

        return true;
    }
}
