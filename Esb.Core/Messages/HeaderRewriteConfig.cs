using Esb.Core.Configuration.Settings;

namespace Esb.Core.Messages;

/// <summary>Changes to headers that cross a boundary: first some are removed, then some get another name, then some are set.</summary>
/// <remarks>Refused at start, with <c>ESB-CFG-HEADER</c>, are names that no header has or that are reserved, and values of more than one line.</remarks>
public sealed record HeaderRewriteConfig : SettingsRecord
{
    /// <summary>Names, or beginnings followed by *; case does not matter.</summary>
    [Setting("Headers that go no further: names, or beginnings followed by *.")]
    public IReadOnlyList<string> Remove { get; init; } = [];

    /// <summary>New names by old ones. Where the new name is there already, its values are joined.</summary>
    [Setting("New names of headers, by their old ones.")]
    public IReadOnlyDictionary<string, string> Rename { get; init; } = new Dictionary<string, string>();

    /// <summary>Values by names; they replace what came.</summary>
    [Setting("Values of headers that are always sent, by their names; they replace what came. They need not be in the list of headers that may cross.")]
    public IReadOnlyDictionary<string, string> Set { get; init; } = new Dictionary<string, string>();
}
