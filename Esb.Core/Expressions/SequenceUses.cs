namespace Esb.Core.Expressions;

/// <summary>The places of a configuration whose templates have <c>{sequence}</c>: a message needs its number before they are evaluated.
/// Filled while the configuration is checked, by one thread; read while messages run.</summary>
public sealed class SequenceUses
{
    private readonly List<string> _paths = [];

    /// <summary>Adds the path of a template, such as <c>endpoints.invoices.fileName</c>.</summary>
    public void Add(string path) => _paths.Add(path);

    /// <summary>The first template at or below a path; null if none has the place.</summary>
    public string? FirstIn(string path) =>
        _paths.Find(used =>
            used.StartsWith(path, StringComparison.Ordinal) && (used.Length == path.Length || used[path.Length] is '.' or '[')
        );
}
