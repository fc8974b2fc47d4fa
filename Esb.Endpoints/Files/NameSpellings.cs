using System.Collections.Concurrent;

namespace Esb.Endpoints.Files;

/// <summary>Remembers the spelling of names that an endpoint has written recently. Thread-safe.</summary>
/// <remarks>Readers on Windows or macOS treat names that differ only in case as equal, so the second one meets the rule for existing files
/// here too.</remarks>
internal sealed class NameSpellings(string folder)
{
    private const int Most = 10_000; // about a megabyte

    private readonly ConcurrentDictionary<string, string> _spellings = new(StringComparer.OrdinalIgnoreCase);

    /// <summary>Returns the spelling used in the folder: the name itself, unless a file differs from it only in case.</summary>
    public string Find(string name)
    {
        if (_spellings.Count >= Most)
            _spellings.Clear();
        var known = _spellings.GetOrAdd(name, name);
        if (known == name || File.Exists(Path.Combine(folder, known)))
            return known;
        _spellings[name] = name;
        return name;
    }
}
