using System.Collections.Concurrent;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Tests.Delivery;

/// <summary>An outside that does as the test says: each attempt takes the next turn of the script; without one it succeeds.</summary>
internal sealed class ScriptedEndpoint : IFencingAdapter, IFencedEndpoint
{
    private readonly ConcurrentQueue<Func<EsbMessage, CancellationToken, Task<EsbMessage?>>> _turns = new();
    private readonly ConcurrentQueue<EsbMessage> _attempts = new();

    public IReadOnlyList<EsbMessage> Attempts => [.. _attempts];

    /// <summary>What was shown at the beginning of each lease.</summary>
    public List<long> Fences { get; } = [];

    /// <summary>What raising the fence fails with; null if it succeeds.</summary>
    public Exception? FenceFailure { get; set; }

    /// <summary>What each attempt under a lease showed.</summary>
    public ConcurrentQueue<long> Tokens { get; } = new();

    public int Instances { get; private set; }

    public bool CannotBeMade { get; set; }

    public ScriptedEndpoint Fails(
        int times = 1,
        bool isTransient = true,
        bool isOutage = false,
        TimeSpan? retryAfter = null,
        bool isUnsent = false
    )
    {
        for (var i = 0; i < times; i++)
            _turns.Enqueue(
                (_, _) =>
                    throw new EndpointException("an-endpoint", "ESB-TEST-FAILED", "It failed.", isTransient)
                    {
                        IsOutage = isOutage,
                        IsUnsent = isUnsent,
                        RetryAfter = retryAfter,
                    }
            );
        return this;
    }

    /// <summary>Refuses a message before anything is sent.</summary>
    public ScriptedEndpoint Refuses(int times = 1)
    {
        for (var i = 0; i < times; i++)
            _turns.Enqueue(
                (_, _) =>
                    throw new EndpointException("an-endpoint", "ESB-TEST-VALUE", "The message has no value.", isTransient: false)
                    {
                        IsUnsent = true,
                    }
            );
        return this;
    }

    public ScriptedEndpoint TurnsAway(int times = 1, TimeSpan? retryAfter = null)
    {
        for (var i = 0; i < times; i++)
            _turns.Enqueue(
                (_, _) =>
                    throw new EndpointException("an-endpoint", "ESB-TEST-AWAY", "Nobody serves this now.", isTransient: true)
                    {
                        IsTurnedAway = true,
                        RetryAfter = retryAfter,
                    }
            );
        return this;
    }

    public ScriptedEndpoint RefusesToken()
    {
        _turns.Enqueue(
            (_, _) =>
                throw new EndpointException("an-endpoint", IFencedEndpoint.FencingCode, "Another host has taken over.", isTransient: true)
        );
        return this;
    }

    public ScriptedEndpoint Answers(EsbMessage answer)
    {
        _turns.Enqueue((_, _) => Task.FromResult<EsbMessage?>(answer));
        return this;
    }

    public ScriptedEndpoint Takes(Func<CancellationToken, Task> time)
    {
        _turns.Enqueue(
            async (_, cancellationToken) =>
            {
                await time(cancellationToken);
                return null;
            }
        );
        return this;
    }

    public IOutboundEndpoint CreateInstance()
    {
        if (CannotBeMade)
            throw new InvalidOperationException("No more of them.");
        Instances++;
        return this;
    }

    public Task RaiseFenceAsync(long fencingToken, CancellationToken cancellationToken)
    {
        Fences.Add(fencingToken);
        return FenceFailure is { } failure ? Task.FromException(failure) : Task.CompletedTask;
    }

    public ValueTask<EsbMessage?> SendAsync(EsbMessage message, long fencingToken, CancellationToken cancellationToken)
    {
        Tokens.Enqueue(fencingToken);
        return SendAsync(message, cancellationToken);
    }

    public async ValueTask<EsbMessage?> SendAsync(EsbMessage message, CancellationToken cancellationToken)
    {
        _attempts.Enqueue(message);
        return _turns.TryDequeue(out var turn) ? await turn(message, cancellationToken) : null;
    }

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;
}
