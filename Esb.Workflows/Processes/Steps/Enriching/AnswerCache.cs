using Esb.Core.Messages;

namespace Esb.Workflows.Processes.Steps.Enriching;

/// <summary>Answers by key, for a time. Thread-safe.</summary>
/// <param name="lifetime">How long an answer is kept.</param>
/// <param name="maxEntries">How many answers are kept; the oldest goes first.</param>
/// <param name="time">The clock.</param>
internal sealed class AnswerCache(TimeSpan lifetime, int maxEntries, TimeProvider time)
{
    private readonly Lock _lock = new();
    private readonly Dictionary<string, LinkedListNode<Entry>> _entries = [];
    private readonly LinkedList<Entry> _byAge = [];

    /// <summary>The answer of a key; null if there is none, or if it is too old.</summary>
    public EnrichAnswer? Find(string key)
    {
        lock (_lock)
        {
            return _entries.TryGetValue(key, out var node) && time.GetElapsedTime(node.Value.KeptAt) < lifetime ? node.Value.Answer : null;
        }
    }

    /// <summary>Keeps an answer, in place of an earlier one.</summary>
    public void Keep(string key, EnrichAnswer answer)
    {
        lock (_lock)
        {
            if (_entries.Remove(key, out var before))
                _byAge.Remove(before);
            if (_entries.Count >= maxEntries)
            {
                _entries.Remove(_byAge.First!.Value.Key);
                _byAge.RemoveFirst();
            }

            _entries[key] = _byAge.AddLast(new Entry(key, answer, time.GetTimestamp()));
        }
    }

    private sealed record Entry(string Key, EnrichAnswer Answer, long KeptAt);
}

/// <summary>An answer that enriches a message.</summary>
/// <param name="Body">The body, buffered.</param>
/// <param name="ContentType">Its media type; null if unknown.</param>
internal sealed record EnrichAnswer(MessageBody Body, string? ContentType);
