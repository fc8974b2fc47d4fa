namespace Esb.Core.Configuration.Settings;

/// <summary>Which properties of settings could not be read as they were written. Each has been reported.</summary>
internal sealed class SettingFlaws
{
    /// <summary>Of settings that stand in for others: nothing of them was written.</summary>
    public static readonly SettingFlaws Everything = new();

    private readonly HashSet<string> _lost = [];
    private readonly HashSet<string> _incomplete = [];

    /// <summary>Whether there are any.</summary>
    public bool Any => this == Everything || _lost.Count > 0 || _incomplete.Count > 0;

    /// <summary>Nothing of the property could be read; its value is the default, or a stand-in where it has none.</summary>
    public void Lose(string property) => _lost.Add(property);

    /// <summary>Something in the property's value is missing.</summary>
    public void Damage(string property) => _incomplete.Add(property);

    /// <summary>Whether nothing of the property could be read.</summary>
    public bool HasLost(string property) => this == Everything || _lost.Contains(property);

    /// <summary>Whether the property is what was written, in full.</summary>
    public bool Spares(string property) => !HasLost(property) && !_incomplete.Contains(property);
}
