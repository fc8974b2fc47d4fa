namespace Esb.Core.Configuration.Settings;

/// <summary>Properties of settings that could not be read as written. Each has been reported.</summary>
internal sealed class SettingFlaws
{
    /// <summary>Flaws of placeholder settings, none of whose properties was written.</summary>
    public static readonly SettingFlaws Everything = new();

    private readonly HashSet<string> _lost = [];
    private readonly HashSet<string> _incomplete = [];

    /// <summary>True if there are any.</summary>
    public bool Any => this == Everything || _lost.Count > 0 || _incomplete.Count > 0;

    /// <summary>Marks a property as unreadable; its value is the default, or a placeholder if it has none.</summary>
    public void Lose(string property) => _lost.Add(property);

    /// <summary>Marks a property whose value is incomplete.</summary>
    public void Damage(string property) => _incomplete.Add(property);

    /// <summary>True if nothing of the property could be read.</summary>
    public bool HasLost(string property) => this == Everything || _lost.Contains(property);

    /// <summary>True if the property was read as written, in full.</summary>
    public bool Spares(string property) => !HasLost(property) && !_incomplete.Contains(property);
}
