using System.Text.Json.Nodes;
using Esb.Configuration.Compiling;
using Esb.Core.Configuration;

namespace Esb.Configuration;

/// <summary>An immutable snapshot of a configuration. A running configuration is valid; a draft, which is only checked, may lack unreadable
/// parts.</summary>
public sealed class EsbConfiguration
{
    private readonly ConfigNode _written;
    private readonly IReadOnlyDictionary<string, object> _sections;

    internal EsbConfiguration(
        ConfigNode written,
        IReadOnlyDictionary<string, object> sections,
        IReadOnlySet<string> damaged,
        IReadOnlyList<TracedValue> values,
        string writtenHash
    )
    {
        (_written, _sections) = (written, sections);
        Unread = new UnreadSettings(written, sections, damaged);
        Values = values;
        WrittenHash = writtenHash;
    }

    /// <summary>The name of the configuration, shown to operators and in telemetry.</summary>
    public string Name => Section<string>("name");

    /// <summary>The folder with the maps, schemas and other contents that came with its files; null if they are where the files
    /// belong.</summary>
    public string? Contents => _written.Origin.Contents;

    /// <summary>The same for every configuration that says the same as it is written: references and variables of a host do not count, nor
    /// do the files that it names.</summary>
    public string WrittenHash { get; }

    /// <summary>Twelve hexadecimal digits, the same for hosts on which every value is the same once references and variables are in place.
    /// Secrets do not count.</summary>
    public string HostValues => Fingerprint.Shorten(Fingerprint.Of(Values.Select(value => $"{value.Path}={value.Shown}")));

    /// <summary>The settings that could not be read; empty unless this is a draft.</summary>
    public UnreadSettings Unread { get; }

    /// <summary>Every single value, defaults included, with its origin.</summary>
    public IReadOnlyList<TracedValue> Values { get; }

    /// <summary>The environment variables that the configuration was read with. Files that are read at run time resolve their references
    /// with them.</summary>
    public IReadOnlyDictionary<string, string> Variables { get; internal init; } = new Dictionary<string, string>();

    /// <summary>Returns a section as the settings type it was registered with.</summary>
    /// <exception cref="KeyNotFoundException">No such section is registered.</exception>
    public T Section<T>(string name) => (T)_sections[name];

    /// <summary>Returns a section as the settings type it was registered with; null if none is registered.</summary>
    public T? FindSection<T>(string name)
        where T : class => _sections.GetValueOrDefault(name) as T;

    /// <summary>Returns a fingerprint of the value at a path, such as <c>audit.mode</c>, with references resolved. Equal values have equal
    /// fingerprints.</summary>
    public string FingerprintAt(string path) =>
        Fingerprint.Of(path.Split('.').Aggregate((ConfigNode?)_written, (node, part) => node?[part]));

    /// <summary>All of it as JSON, as it is written: with references, not with what they stand for.</summary>
    public JsonObject WrittenJson => _written.ToWrittenJson()!.AsObject();

    /// <summary>Returns a named thing of a section as JSON, as it is written: with references, not with what they stand for. Null if it is
    /// not written.</summary>
    public JsonNode? WrittenOf(string section, string name) => _written[section]?[name]?.ToWrittenJson();

    /// <summary>Returns the names of the things of a section; none if it is not written.</summary>
    public IEnumerable<string> NamesIn(string section) => NamesOf(section);

    /// <summary>Returns the names of the things of a section; none if it is not written.</summary>
    internal IEnumerable<string> NamesOf(string section) => _written[section]?.Members.Select(member => member.Name) ?? [];

    /// <summary>Returns a section of named things.</summary>
    /// <exception cref="KeyNotFoundException">No such section is registered.</exception>
    public IReadOnlyDictionary<string, T> Named<T>(string section) => Section<IReadOnlyDictionary<string, T>>(section);
}
