using Esb.Configuration.Compiling;
using Esb.Core.Configuration;

namespace Esb.Configuration;

/// <summary>A configuration: a snapshot. Immutable. What runs was found valid; a draft, which is only checked, may lack what could not be read.</summary>
public sealed class EsbConfiguration
{
    private readonly ConfigNode _written;
    private readonly IReadOnlyDictionary<string, object> _sections;

    internal EsbConfiguration(ConfigNode written, IReadOnlyDictionary<string, object> sections, IReadOnlySet<string> damaged, IReadOnlyList<TracedValue> values, string writtenHash)
    {
        (_written, _sections) = (written, sections);
        Unread = new UnreadSettings(written, sections, damaged);
        Values = values;
        WrittenHash = writtenHash;
    }

    /// <summary>The name of the configuration, shown to people and in telemetry.</summary>
    public string Name => Section<string>("name");

    /// <summary>The same for every configuration that says the same as it is written: references and variables of a host do not count, nor
    /// do the files that it names.</summary>
    public string WrittenHash { get; }

    /// <summary>Twelve hexadecimal digits, the same for hosts on which every value is the same once references and variables are in place.
    /// Secrets do not count.</summary>
    public string HostValues => Fingerprint.Shorten(Fingerprint.Of(Values.Select(value => $"{value.Path}={value.Shown}")));

    /// <summary>What could not be read; nothing unless this is a draft.</summary>
    public UnreadSettings Unread { get; }

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

    /// <summary>The same for configurations that say the same at a path, such as <c>audit.mode</c>; references resolved.</summary>
    public string FingerprintAt(string path) => Fingerprint.Of(path.Split('.').Aggregate((ConfigNode?)_written, (node, part) => node?[part]));

    /// <summary>A section of named things.</summary>
    /// <exception cref="KeyNotFoundException">No such section is registered.</exception>
    public IReadOnlyDictionary<string, T> Named<T>(string section) => Section<IReadOnlyDictionary<string, T>>(section);
}
