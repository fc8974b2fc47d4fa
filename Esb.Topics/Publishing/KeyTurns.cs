using System.Runtime.InteropServices;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Topics;

namespace Esb.Topics.Publishing;

/// <summary>Lets the publishes of one topic and key go one after the other, first come, first served. Thread-safe.</summary>
/// <remarks>
/// Two under way at once could change places: the first is refused by a full queue, or lost with its connection; the second is confirmed; the first is repeated.
/// Messages without a key wait for nobody.
/// </remarks>
internal sealed class KeyTurns(TimeProvider time)
{
    /// <summary>How many may wait for one key, each of them holding its message.</summary>
    public const int MaxWaiting = 1_000;

    private static readonly TimeSpan LongestWait = TimeSpan.FromSeconds(20);

    private readonly Lock _gate = new();
    private readonly Dictionary<KeyLine, LinkedList<TaskCompletionSource>> _lines = [];

    /// <summary>Lines in which somebody has the turn: none is left behind.</summary>
    public int Lines
    {
        get
        {
            lock (_gate) return _lines.Count;
        }
    }

    /// <summary>Waits for the turn of a message; disposing the result gives it to the next.</summary>
    /// <exception cref="EsbException"><c>ESB-TOPIC-UNAVAILABLE</c>: those before it were not done within 20 s, or too many wait already.</exception>
    public async ValueTask<KeyTurn> TakeAsync(EsbMessage message, CancellationToken cancellationToken)
    {
        if (message.Key is not { } key) return default;
        var line = new KeyLine(Subject.TopicOf(message.Subject), key);
        if (Join(line, message.Subject) is not { } place) return new KeyTurn(this, line);
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
        lock (_gate) CallNext(line);
    }

    // Null: nobody is before us.
    private LinkedListNode<TaskCompletionSource>? Join(KeyLine line, string subject)
    {
        lock (_gate)
        {
            ref var waiting = ref CollectionsMarshal.GetValueRefOrAddDefault(_lines, line, out var isTaken);
            waiting ??= [];
            if (!isTaken) return null;
            if (waiting.Count >= MaxWaiting) throw Busy(subject, $"{MaxWaiting} messages of the same key wait already");
            return waiting.AddLast(new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously));
        }
    }

    private void Leave(KeyLine line, LinkedListNode<TaskCompletionSource> place)
    {
        lock (_gate)
        {
            if (place.List is { } waiting) waiting.Remove(place);
            else CallNext(line); // the turn came at the same moment
        }
    }

    // With the lock held.
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

/// <summary>Who waits for one another.</summary>
internal readonly record struct KeyLine(string Topic, string Key);

/// <summary>The turn of one message; of one without a key, nothing.</summary>
internal readonly struct KeyTurn(KeyTurns turns, KeyLine line) : IDisposable
{
    public void Dispose() => turns?.GiveOn(line);
}
