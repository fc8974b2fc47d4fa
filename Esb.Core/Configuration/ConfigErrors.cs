using Esb.Core.Configuration.Settings;

namespace Esb.Core.Configuration;

/// <summary>Collects the errors of one configuration, so that all are reported at once. Not thread-safe: a configuration is read by one
/// thread.</summary>
public sealed class ConfigErrors
{
    private readonly List<ConfigError> _errors = [];
    private readonly List<ConfigError> _warnings = [];
    private readonly HashSet<ConfigError> _known = [];

    /// <summary>Everything found so far, in the order found.</summary>
    public IReadOnlyList<ConfigError> All => _errors;

    /// <summary>Permitted settings that operators should know about: reported at every start, and by <c>esb validate</c>.</summary>
    public IReadOnlyList<ConfigError> Warnings => _warnings;

    /// <summary>True if any error was found.</summary>
    public bool Any => _errors.Count > 0;

    /// <summary>Adds an error, unless the same error was added already.</summary>
    public void Add(ConfigError error)
    {
        if (_known.Add(error))
            _errors.Add(error);
    }

    /// <summary>Adds the errors and warnings that were collected elsewhere.</summary>
    public void AddAll(ConfigErrors others)
    {
        foreach (var error in others.All)
            Add(error);
        foreach (var warning in others.Warnings)
            AddWarning(warning);
    }

    /// <summary>Adds a warning about a property of settings; does nothing if the property could not be read.</summary>
    /// <param name="code">Stable: <c>ESB-CFG-…</c>.</param>
    /// <param name="settings">The settings.</param>
    /// <param name="property">The property's configured name.</param>
    /// <param name="meaning">The meaning, as the end of a sentence.</param>
    public void Warn(string code, SettingsRecord settings, string property, string meaning)
    {
        if (Describe(code, settings, property, meaning) is { } warning)
            AddWarning(warning);
    }

    /// <summary>Adds a warning about a path, without a value.</summary>
    public void Warn(string code, string path, string meaning, ConfigOrigin? origin = null) =>
        AddWarning(new ConfigError(code, path, null, meaning, origin));

    /// <summary>Adds an error about the value of a node, clipped to 60 characters and masked if secret.</summary>
    public void Add(string code, ConfigNode node, string expected) => Add(Describe(code, node, expected));

    /// <summary>Adds an error about a property of settings, with its value and position as written; with the position of the settings if
    /// the property is absent.</summary>
    /// <remarks>Does nothing if the property could not be read: that error has been reported already.</remarks>
    /// <param name="code">Stable: <c>ESB-CFG-…</c>.</param>
    /// <param name="settings">The settings.</param>
    /// <param name="property">The property's configured name.</param>
    /// <param name="expected">The accepted values, as the end of a sentence.</param>
    public void Add(string code, SettingsRecord settings, string property, string expected)
    {
        if (Describe(code, settings, property, expected) is { } error)
            Add(error);
    }

    /// <summary>Adds an error about a path, without a value.</summary>
    public void Add(string code, string path, string expected, ConfigOrigin? origin = null) =>
        Add(new ConfigError(code, path, null, expected, origin));

    private void AddWarning(ConfigError warning)
    {
        if (_known.Add(warning))
            _warnings.Add(warning);
    }

    private static ConfigError? Describe(string code, SettingsRecord settings, string property, string expected)
    {
        if (settings.Flaws?.HasLost(property) == true)
            return null;
        if (settings.Written?[property] is not { } node)
            return new ConfigError(code, ConfigNode.Join(settings.Path, property), null, expected, settings.Origin);
        // An invalid address may hold its password anywhere, and is not shown at all.
        return node.Secrecy == Secrecy.Password
            ? new ConfigError(code, node.Path, null, expected, node.Origin)
            : Describe(code, node, expected);
    }

    private static ConfigError Describe(string code, ConfigNode node, string expected) =>
        new(code, node.Path, node.Display(), expected, node.Origin);
}
