using Esb.Core.Configuration;

namespace Esb.Configuration;

/// <summary>What of a configuration could not be read, and has been reported: what only follows from that is no error of its own.
/// Immutable.</summary>
public sealed class UnreadSettings
{
    private readonly ConfigNode _written;
    private readonly IReadOnlyDictionary<string, object> _sections;
    private readonly IReadOnlySet<string> _damaged;

    internal UnreadSettings(ConfigNode written, IReadOnlyDictionary<string, object> sections, IReadOnlySet<string> damaged) =>
        (_written, _sections, _damaged) = (written, sections, damaged);

    /// <summary>Whether all of a section could be read.</summary>
    public bool IsSound(string section) => !_damaged.Contains(section);

    /// <summary>The things of a section of named things that could not be read, as they were written; the section itself where that is no
    /// object.</summary>
    /// <exception cref="KeyNotFoundException">No such section is registered.</exception>
    public IEnumerable<ConfigNode> LostOf<T>(string section)
    {
        var read = (IReadOnlyDictionary<string, T>)_sections[section];
        if (_written[section] is not { Kind: ConfigKind.Object } written) return [_written[section]!];
        return written.Members.Where(member => !read.ContainsKey(member.Name)).Select(member => member.Value);
    }
}
