using System.Collections.Concurrent;
using Esb.Core.Messages;
using Esb.Core.Topics;

namespace Esb.Topics.Memory;

/// <summary>Replies that requesters of this process wait for. Thread-safe.</summary>
internal sealed class MemoryReplies(TimeProvider time)
{
    private readonly ConcurrentDictionary<string, MemoryReply> _waiting = new();

    /// <summary>Begins to wait.</summary>
    /// <param name="request">The request.</param>
    /// <param name="timeout">How long a reply is of use.</param>
    public MemoryReply Begin(EsbMessage request, TimeSpan timeout)
    {
        var reply = new MemoryReply(request, timeout, time, ended => _waiting.TryRemove(ended.Address, out _));
        _waiting[reply.Address] = reply;
        return reply;
    }

    /// <summary>Hands a reply to its requester; false if none waits.</summary>
    public bool TryReply(string address, EsbMessage reply)
    {
        if (_waiting.TryGetValue(address, out var waiting))
            return waiting.TrySet(reply);
        TopicsTelemetry.CountReplyAbandoned();
        return false;
    }
}

/// <summary>A reply that a requester of this process waits for. Thread-safe.</summary>
/// <param name="request">The request.</param>
/// <param name="timeout">How long the requester waits.</param>
/// <param name="time">The clock.</param>
/// <param name="ended">Called when the requester waits no longer.</param>
internal sealed class MemoryReply(EsbMessage request, TimeSpan timeout, TimeProvider time, Action<MemoryReply> ended)
{
    private readonly TaskCompletionSource<EsbMessage> _reply = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public string Address { get; } = Guid.NewGuid().ToString();

    /// <summary>Hands over the reply; false if the requester waits no longer.</summary>
    public bool TrySet(EsbMessage reply)
    {
        var isAwaited = _reply.TrySetResult(reply);
        if (!isAwaited)
            TopicsTelemetry.CountReplyAbandoned();
        return isAwaited;
    }

    public async Task<EsbMessage> WaitAsync(CancellationToken cancellationToken)
    {
        try
        {
            var reply = await _reply.Task.WaitAsync(timeout, time, cancellationToken);
            return reply with { CorrelationId = request.CorrelationId };
        }
        catch (TimeoutException)
        {
            throw TopicFaults.RequestTimeout(request.Subject, timeout);
        }
        finally
        {
            End();
        }
    }

    /// <summary>Ends the wait: a later reply finds no requester.</summary>
    public void End()
    {
        _reply.TrySetCanceled(CancellationToken.None);
        ended(this);
    }

    public ValueTask<bool> SendAsync(EsbMessage reply, CancellationToken cancellationToken) => ValueTask.FromResult(TrySet(reply));
}
