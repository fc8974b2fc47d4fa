namespace Esb.Core.Configuration;

/// <summary>A configuration: a snapshot. Immutable. What runs was found valid; a draft, which is only checked, may lack what could not be read.</summary>
public sealed class EsbConfiguration
{
    private readonly ConfigNode _written;
    private readonly IReadOnlyDictionary<string, object> _sections;
    private readonly IReadOnlySet<string> _damaged;

    internal EsbConfiguration(ConfigNode written, IReadOnlyDictionary<string, object> sections, IReadOnlySet<string> damaged, IReadOnlyList<TracedValue> values, string revision)
    {
        _written = written;
        _sections = sections;
        _damaged = damaged;
        Values = values;
        Revision = revision;
    }

    /// <summary>The name of the configuration, shown to people and in telemetry.</summary>
    public string Name => Section<string>("name");

    /// <summary>Twelve hexadecimal digits, the same for every configuration that says the same.</summary>
    public string Revision { get; }

    /// <summary>Every single value, defaults included, and where it came from.</summary>
    public IReadOnlyList<TracedValue> Values { get; }

    /// <summary>The environment variables that it was read with, for the references of files that are read while the bus runs.</summary>
    public IReadOnlyDictionary<string, string> Variables { get; internal init; } = new Dictionary<string, string>();

    /// <summary>A section as the settings that it was registered with.</summary>
    /// <exception cref="KeyNotFoundException">No such section is registered.</exception>
    public T Section<T>(string name) => (T)_sections[name];

    /// <summary>A section as the settings that it was registered with; null where none is registered.</summary>
    public T? FindSection<T>(string name)
        where T : class => _sections.GetValueOrDefault(name) as T;

    /// <summary>A section of named things.</summary>
    /// <exception cref="KeyNotFoundException">No such section is registered.</exception>
    public IReadOnlyDictionary<string, T> Named<T>(string section) => Section<IReadOnlyDictionary<string, T>>(section);

    /// <summary>Whether all of a section could be read; always true unless this is a draft.</summary>
    public bool IsSound(string section) => !_damaged.Contains(section);

    /// <summary>What stands in a section of named things and could not be read, as it was written; the section itself where that is no object. Empty unless this is a draft.</summary>
    /// <exception cref="KeyNotFoundException">No such section is registered.</exception>
    public IEnumerable<ConfigNode> Lost<T>(string section)
    {
        var read = Named<T>(section);
        if (_written[section] is not { Kind: ConfigKind.Object } written) return [_written[section]!];
        return written.Members.Where(member => !read.ContainsKey(member.Name)).Select(member => member.Value);
    }
}
