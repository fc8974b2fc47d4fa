using Esb.Core.Configuration.Settings;

namespace Esb.Core.Configuration;

/// <summary>Collects the errors of one configuration, so that all are reported at once. Not thread-safe: a configuration is read by one thread.</summary>
public sealed class ConfigErrors
{
    private readonly List<ConfigError> _errors = [];
    private readonly HashSet<ConfigError> _known = [];

    /// <summary>Everything found so far, in the order found.</summary>
    public IReadOnlyList<ConfigError> All => _errors;

    /// <summary>Whether anything was found.</summary>
    public bool Any => _errors.Count > 0;

    /// <summary>Adds an error, unless the same one stands already.</summary>
    public void Add(ConfigError error)
    {
        if (_known.Add(error)) _errors.Add(error);
    }

    /// <summary>Adds an error about the value of a node, clipped to 60 characters and masked where it is secret.</summary>
    public void Add(string code, ConfigNode node, string expected) =>
        Add(new ConfigError(code, node.Path, node.Display(), expected, node.Origin));

    /// <summary>Adds an error about a property of settings, with its value and place as they were written; the place of the whole where the property was not.</summary>
    /// <param name="code">Stable: <c>ESB-CFG-…</c>.</param>
    /// <param name="settings">The settings.</param>
    /// <param name="property">The property's configured name.</param>
    /// <param name="expected">What is accepted instead, as the end of a sentence.</param>
    public void Add(string code, SettingsRecord settings, string property, string expected)
    {
        if (settings.Written?[property] is { } node) Add(code, node, expected);
        else Add(code, ConfigNode.Join(settings.Path, property), expected, settings.Origin);
    }

    /// <summary>Adds an error about a place, without a value.</summary>
    public void Add(string code, string path, string expected, ConfigOrigin? origin = null) =>
        Add(new ConfigError(code, path, null, expected, origin));
}
