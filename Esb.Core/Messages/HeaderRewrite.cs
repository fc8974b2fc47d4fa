namespace Esb.Core.Messages;

/// <summary>What <see cref="HeaderRewriteConfig"/> does to headers. Thread-safe.</summary>
public sealed class HeaderRewrite
{
    /// <summary>Changes nothing.</summary>
    public static readonly HeaderRewrite None = new(new HeaderRewriteConfig());

    private readonly string[] _removed;
    private readonly Dictionary<string, string> _renamed;
    private readonly Dictionary<string, string> _set;

    /// <param name="config">Checked.</param>
    public HeaderRewrite(HeaderRewriteConfig config)
    {
        _removed = [.. config.Remove];
        _renamed = new Dictionary<string, string>(config.Rename, StringComparer.OrdinalIgnoreCase);
        _set = new Dictionary<string, string>(config.Set, StringComparer.OrdinalIgnoreCase);
        IsEmpty = _removed.Length == 0 && _renamed.Count == 0 && _set.Count == 0;
    }

    /// <summary>Whether nothing is changed.</summary>
    public bool IsEmpty { get; }

    /// <summary>The headers that are always there.</summary>
    public IReadOnlyDictionary<string, string> Set => _set;

    /// <summary>The name under which a header that came goes on; null where it does not.</summary>
    public string? NameOf(string name)
    {
        if (IsEmpty) return name;
        foreach (var pattern in _removed)
        {
            if (HeaderRules.Matches(pattern, name)) return null;
        }

        if (_renamed.TryGetValue(name, out var other)) name = other;
        return _set.ContainsKey(name) ? null : name;
    }

    /// <summary>The headers after the changes.</summary>
    public MessageHeaders Apply(MessageHeaders headers)
    {
        if (IsEmpty) return headers;
        var changed = new List<KeyValuePair<string, string>>();
        foreach (var (name, value) in headers)
        {
            if (NameOf(name) is { } kept) changed.Add(new(kept, value));
        }

        return MessageHeaders.From(changed.Concat(_set));
    }
}
