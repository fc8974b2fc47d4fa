using System.Collections.Frozen;
using System.Diagnostics.CodeAnalysis;
using Esb.Core.Configuration;

namespace Esb.Core.Parties;

/// <summary>The parties of a configuration. Thread-safe.</summary>
public sealed class PartyDirectory
{
    private readonly FrozenDictionary<string, Party> _parties;

    /// <summary>The parties of the section <c>parties</c>.</summary>
    public PartyDirectory(EsbConfiguration configuration) =>
        _parties = configuration.Named<PartyConfig>("parties").Values.ToFrozenDictionary(config => config.Name, config => new Party(config), StringComparer.Ordinal);

    /// <summary>The party of this name.</summary>
    public bool TryFind(string name, [MaybeNullWhen(false)] out Party party) => _parties.TryGetValue(name, out party);
}
