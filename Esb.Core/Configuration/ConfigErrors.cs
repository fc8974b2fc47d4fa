namespace Esb.Core.Configuration;

/// <summary>Collects the errors of one configuration, so that all are reported at once. Not thread-safe: a configuration is read by one thread.</summary>
public sealed class ConfigErrors
{
    private readonly List<ConfigError> _errors = [];

    /// <summary>Everything found so far, in the order found.</summary>
    public IReadOnlyList<ConfigError> All => _errors;

    /// <summary>Whether anything was found.</summary>
    public bool Any => _errors.Count > 0;

    /// <summary>Adds an error, unless the same one stands already.</summary>
    public void Add(ConfigError error)
    {
        if (!_errors.Contains(error)) _errors.Add(error);
    }

    /// <summary>Adds an error about the value of a node, clipped to 60 characters.</summary>
    public void Add(string code, ConfigNode node, string expected) =>
        Add(new ConfigError(code, node.Path, node.Display(), expected, node.Origin));

    /// <summary>Adds an error about a place, without a value.</summary>
    public void Add(string code, string path, string expected, ConfigOrigin? origin = null) =>
        Add(new ConfigError(code, path, null, expected, origin));
}
