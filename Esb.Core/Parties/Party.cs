using System.Collections.Concurrent;
using Esb.Core.Topics;

namespace Esb.Core.Parties;

/// <summary>A party and its permissions. Immutable except for a cache; thread-safe.</summary>
public sealed class Party
{
    // Subjects come from the configuration, so there are few.
    private readonly ConcurrentDictionary<string, bool> _known = new(StringComparer.Ordinal);
    private readonly PartyConfig _config;

    internal Party(PartyConfig config) => _config = config;

    /// <summary>Its name in the configuration.</summary>
    public string Name => _config.Name;

    /// <summary>True if its messages may be published under a subject of the configuration.</summary>
    public bool MayPublish(string subject) =>
        _known.GetOrAdd(subject, static (published, config) => config.Publish.Any(pattern => pattern.Matches(published)), _config);
}
