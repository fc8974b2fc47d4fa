using Esb.Core.Configuration;

namespace Esb.Configuration;

/// <summary>The settings that could not be read and have been reported. Errors that only follow from them are not reported.
/// Immutable.</summary>
public sealed class UnreadSettings
{
    private readonly ConfigNode _written;
    private readonly IReadOnlyDictionary<string, object> _sections;
    private readonly IReadOnlySet<string> _damaged;

    internal UnreadSettings(ConfigNode written, IReadOnlyDictionary<string, object> sections, IReadOnlySet<string> damaged) =>
        (_written, _sections, _damaged) = (written, sections, damaged);

    /// <summary>True if all of a section could be read.</summary>
    public bool IsSound(string section) => !_damaged.Contains(section);

    /// <summary>Returns the unreadable entries of a section of named things, as written; the section itself if it is not an
    /// object.</summary>
    /// <exception cref="KeyNotFoundException">No such section is registered.</exception>
    public IEnumerable<ConfigNode> LostOf<T>(string section)
    {
        var read = (IReadOnlyDictionary<string, T>)_sections[section];
        if (_written[section] is not { Kind: ConfigKind.Object } written)
            return [_written[section]!];
        return written.Members.Where(member => !read.ContainsKey(member.Name)).Select(member => member.Value);
    }
}
