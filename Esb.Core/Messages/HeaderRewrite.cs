namespace Esb.Core.Messages;

/// <summary>Applies a <see cref="HeaderRewriteConfig"/> to headers. Thread-safe.</summary>
public sealed class HeaderRewrite
{
    /// <summary>Changes nothing.</summary>
    public static readonly HeaderRewrite None = new(new HeaderRewriteConfig());

    private readonly string[] _removed;
    private readonly Dictionary<string, string> _renamed;
    private readonly Dictionary<string, string> _set;

    /// <param name="config">The validated settings.</param>
    public HeaderRewrite(HeaderRewriteConfig config)
    {
        _removed = [.. config.Remove];
        _renamed = new Dictionary<string, string>(config.Rename, StringComparer.OrdinalIgnoreCase);
        _set = new Dictionary<string, string>(config.Set, StringComparer.OrdinalIgnoreCase);
        IsEmpty = _removed.Length == 0 && _renamed.Count == 0 && _set.Count == 0;
    }

    /// <summary>True if nothing is changed.</summary>
    public bool IsEmpty { get; }

    /// <summary>Headers that are always set.</summary>
    public IReadOnlyDictionary<string, string> Set => _set;

    /// <summary>Returns the name under which a received header is passed on; null if it is dropped.</summary>
    public string? NameOf(string name)
    {
        if (IsEmpty)
            return name;
        foreach (var pattern in _removed)
        {
            if (HeaderRules.Matches(pattern, name))
                return null;
        }

        if (_renamed.TryGetValue(name, out var other))
            name = other;
        return _set.ContainsKey(name) ? null : name;
    }

    /// <summary>Applies the changes to headers.</summary>
    public MessageHeaders Apply(MessageHeaders headers)
    {
        if (IsEmpty)
            return headers;
        var changed = new List<KeyValuePair<string, string>>();
        foreach (var (name, value) in headers)
        {
            if (NameOf(name) is { } kept)
                changed.Add(new(kept, value));
        }

        return MessageHeaders.From(changed.Concat(_set));
    }
}
