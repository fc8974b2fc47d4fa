using System.Collections.Concurrent;

namespace Esb.Core.Topics;

/// <summary>The topics of subjects, as cached strings, for metrics counted with every message. Thread-safe.</summary>
public static class TopicNames
{
    // Configurations have far fewer. Further topics are correct as well, at the cost of a string each.
    private const int Most = 1_000;

    private static readonly ConcurrentDictionary<string, string> Known = new();
    private static readonly ConcurrentDictionary<string, string>.AlternateLookup<ReadOnlySpan<char>> ByText = Known.GetAlternateLookup<
        ReadOnlySpan<char>
    >();

    /// <summary>The topic of a well-formed subject; null if the subject is empty.</summary>
    public static string? Of(string subject)
    {
        if (subject.Length == 0)
            return null;
        var topic = subject.AsSpan();
        if (topic.IndexOf('.') is var dot and >= 0)
            topic = topic[..dot];
        if (ByText.TryGetValue(topic, out var known))
            return known;

        var made = topic.ToString();
        if (Known.Count < Most)
            Known.TryAdd(made, made);
        return made;
    }
}
