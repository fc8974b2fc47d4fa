using System.Runtime.InteropServices;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Topics;

namespace Esb.Topics.Publishing;

/// <summary>Serialises the publishes of one topic and key, first come, first served. Thread-safe.</summary>
/// <remarks>
/// Two concurrent publishes could change places: the first is refused by a full queue, or lost with its connection; the second is
/// confirmed; the first is repeated. Messages without a key do not wait.
/// </remarks>
internal sealed class KeyTurns(TimeProvider time)
{
    /// <summary>The maximum number of publishes that may wait for one key, each of them holding its message.</summary>
    public const int MaxWaiting = 1_000;

    private static readonly TimeSpan LongestWait = TimeSpan.FromSeconds(20);

    private readonly Lock _gate = new();
    private readonly Dictionary<KeyLine, LinkedList<TaskCompletionSource>> _lines = [];

    /// <summary>The number of lines whose turn is taken; idle lines are removed.</summary>
    public int Lines
    {
        get
        {
            lock (_gate)
                return _lines.Count;
        }
    }

    /// <summary>Waits for the turn of a message; disposing the result passes the turn to the next publish.</summary>
    /// <exception cref="EsbException"><c>ESB-TOPIC-UNAVAILABLE</c>: earlier publishes did not finish within 20 s, or too many already
    /// wait.</exception>
    public async ValueTask<KeyTurn> TakeAsync(EsbMessage message, CancellationToken cancellationToken)
    {
        if (message.Key is not { } key)
            return default;
        var line = new KeyLine(Subject.TopicOf(message.Subject), key);
        if (Join(line, message.Subject) is not { } place)
            return new KeyTurn(this, line);
        try
        {
            await place.Value.Task.WaitAsync(LongestWait, time, cancellationToken);
            return new KeyTurn(this, line);
        }
        catch (TimeoutException)
        {
            Leave(line, place);
            throw Busy(message.Subject, "a message of the same key before it is not confirmed yet");
        }
        catch (OperationCanceledException)
        {
            Leave(line, place);
            throw;
        }
    }

    internal void GiveOn(KeyLine line)
    {
        lock (_gate)
            CallNext(line);
    }

    // Returns null if no other publish has the turn.
    private LinkedListNode<TaskCompletionSource>? Join(KeyLine line, string subject)
    {
        lock (_gate)
        {
            ref var waiting = ref CollectionsMarshal.GetValueRefOrAddDefault(_lines, line, out var isTaken);
            waiting ??= [];
            if (!isTaken)
                return null;
            if (waiting.Count >= MaxWaiting)
                throw Busy(subject, $"{MaxWaiting} messages of the same key wait already");
            return waiting.AddLast(new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously));
        }
    }

    private void Leave(KeyLine line, LinkedListNode<TaskCompletionSource> place)
    {
        lock (_gate)
        {
            if (place.List is { } waiting)
                waiting.Remove(place);
            else
                CallNext(line); // the turn came at the same moment
        }
    }

    // Requires the lock.
    private void CallNext(KeyLine line)
    {
        if (_lines[line].First is { } next)
        {
            next.List!.Remove(next);
            next.Value.SetResult();
        }
        else
        {
            _lines.Remove(line);
        }
    }

    private static EsbException Busy(string subject, string reason) => TopicFaults.Unavailable(subject, PublishResult.Refused(reason));
}

/// <summary>Identifies the publishes that wait for one another.</summary>
internal readonly record struct KeyLine(string Topic, string Key);

/// <summary>The turn of one message; empty for a message without a key.</summary>
internal readonly struct KeyTurn(KeyTurns turns, KeyLine line) : IDisposable
{
    public void Dispose() => turns?.GiveOn(line);
}
