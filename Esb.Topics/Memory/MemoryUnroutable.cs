using Esb.Core.Messages;
using Esb.Core.Topics;

namespace Esb.Topics.Memory;

/// <summary>Keeps the newest messages without a subscriber: up to 1,000, with bodies of up to 16 MiB in all; the oldest are dropped.
/// Thread-safe.</summary>
/// <param name="publish">Publishes a message again; null if it still has no subscriber.</param>
internal sealed class MemoryUnroutable(Func<EsbMessage, PublishResult?> publish) : IUnroutableMessages
{
    private const int MaxMessages = 1_000;
    private const long MaxBytes = 16 * 1024 * 1024;

    private readonly Lock _gate = new();
    private readonly LinkedList<EsbMessage> _messages = [];
    private long _bytes;

    public void Keep(EsbMessage message)
    {
        lock (_gate)
        {
            _messages.AddLast(message);
            _bytes += message.Body.Bytes.Length;
            while (_messages.Count > MaxMessages || _bytes > MaxBytes)
                Remove(_messages.First!);
        }
    }

    public Task<UnroutableSummary> SummarizeAsync(int peek, CancellationToken cancellationToken)
    {
        lock (_gate)
        {
            var peeked = _messages.Take(peek).Select(message => (message.Subject, message.CreatedAt)).ToList();
            return Task.FromResult(new UnroutableSummary(_messages.Count, peeked.Count, UnroutableSubjects.Of(peeked)));
        }
    }

    public Task<UnroutableReplay> ReplayAsync(string? subject, int limit, CancellationToken cancellationToken)
    {
        var (replayed, unroutable) = (0, new SortedSet<string>(StringComparer.Ordinal));
        lock (_gate) // two replays must not publish the same message
        {
            for (var (node, next) = (_messages.First, (LinkedListNode<EsbMessage>?)null); node is not null && replayed < limit; node = next)
            {
                next = node.Next;
                if (subject is not null && node.Value.Subject != subject)
                    continue;
                if (publish(node.Value) is not { } result)
                {
                    unroutable.Add(node.Value.Subject);
                    continue;
                }

                if (result.Outcome != PublishOutcome.Confirmed)
                    throw TopicFaults.Unavailable(node.Value.Subject, result);
                Remove(node);
                replayed++;
            }
        }

        return Task.FromResult(new UnroutableReplay(replayed, [.. unroutable]));
    }

    private void Remove(LinkedListNode<EsbMessage> node)
    {
        _messages.Remove(node);
        _bytes -= node.Value.Body.Bytes.Length;
    }
}
