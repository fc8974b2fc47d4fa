namespace Esb.Core.Configuration;

/// <summary>A configuration that was read and found valid: a snapshot. Immutable.</summary>
public sealed class EsbConfiguration
{
    private readonly IReadOnlyDictionary<string, object> _sections;

    internal EsbConfiguration(IReadOnlyDictionary<string, object> sections, IReadOnlyList<TracedValue> values, string revision)
    {
        _sections = sections;
        Values = values;
        Revision = revision;
    }

    /// <summary>The name of the configuration, shown to people and in telemetry.</summary>
    public string Name => Section<string>("name");

    /// <summary>Twelve hexadecimal digits, the same for every configuration that says the same.</summary>
    public string Revision { get; }

    /// <summary>Every single value, defaults included, and where it came from.</summary>
    public IReadOnlyList<TracedValue> Values { get; }

    /// <summary>A section as the settings that it was registered with.</summary>
    /// <exception cref="KeyNotFoundException">No such section is registered.</exception>
    public T Section<T>(string name) => (T)_sections[name];

    /// <summary>A section of named things.</summary>
    /// <exception cref="KeyNotFoundException">No such section is registered.</exception>
    public IReadOnlyDictionary<string, T> Named<T>(string section) => Section<IReadOnlyDictionary<string, T>>(section);
}
