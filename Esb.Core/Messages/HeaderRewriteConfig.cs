using Esb.Core.Configuration.Settings;

namespace Esb.Core.Messages;

/// <summary>Changes to headers that cross a boundary: removals first, then renames, then new values.</summary>
/// <remarks>Invalid or reserved names, and values of more than one line, are rejected at start with <c>ESB-CFG-HEADER</c>.</remarks>
public sealed record HeaderRewriteConfig : SettingsRecord
{
    /// <summary>Names, or prefixes followed by *; case-insensitive.</summary>
    [Setting("Headers that go no further: names, or beginnings followed by *.")]
    public IReadOnlyList<string> Remove { get; init; } = [];

    /// <summary>New names by old ones. If the new name exists already, the values are joined.</summary>
    [Setting("New names of headers, by their old ones.")]
    public IReadOnlyDictionary<string, string> Rename { get; init; } = new Dictionary<string, string>();

    /// <summary>Values by names; they replace received values.</summary>
    [Setting(
        "Values of headers that are always sent, by their names; they replace what came. They need not be in the list of headers "
            + "that may cross."
    )]
    public IReadOnlyDictionary<string, string> Set { get; init; } = new Dictionary<string, string>();
}
