using System.Collections.Concurrent;

namespace Esb.Host.Metrics;

/// <summary>The set of endpoints, topics or parties. Bounded: names beyond the limit are counted together, as <c>(others)</c>.
/// Thread-safe.</summary>
internal sealed class MeasuredSet
{
    public const string Others = "(others)";

    // More than a configuration names. Party names from external senders cannot exhaust the memory.
    private const int Most = 1_000;

    private readonly ConcurrentDictionary<string, Measured> _byName = new();

    public IReadOnlyList<Measured> All => [.. _byName.Values.OrderBy(measured => measured.Name, StringComparer.Ordinal)];

    public Measured Of(string name)
    {
        if (_byName.TryGetValue(name, out var known))
            return known;
        return _byName.GetOrAdd(_byName.Count < Most ? name : Others, static made => new Measured(made));
    }
}
