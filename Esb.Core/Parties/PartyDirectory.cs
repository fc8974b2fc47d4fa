using System.Collections.Frozen;
using System.Diagnostics.CodeAnalysis;

namespace Esb.Core.Parties;

/// <summary>The parties of a configuration. Thread-safe.</summary>
public sealed class PartyDirectory
{
    private readonly FrozenDictionary<string, Party> _parties;

    /// <summary>The parties of the section <c>parties</c>, by name.</summary>
    public PartyDirectory(IReadOnlyDictionary<string, PartyConfig> parties) =>
        _parties = parties.Values.ToFrozenDictionary(config => config.Name, config => new Party(config), StringComparer.Ordinal);

    /// <summary>The party of this name.</summary>
    public bool TryFind(string name, [MaybeNullWhen(false)] out Party party) => _parties.TryGetValue(name, out party);
}
