using System.Collections.Concurrent;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Attempts;

/// <summary>Persists the failed attempts of messages that are retried in place, so that any later consumer of the queue (this process, its
/// successor or another host) resumes the retry ladder. Thread-safe, for one delivery of each lane at a time.</summary>
/// <remarks>The store is written only after a failure, and read once per queue session, because the first delivery may be the interrupted
/// one. An unreachable store does not block attempts.</remarks>
internal sealed partial class AttemptBook(string endpoint, IAttemptStore store, TimeProvider time, ILogger<AttemptBook> logger)
{
    private readonly ConcurrentDictionary<int, Page> _pages = [];

    /// <summary>Restores the retry progress of a message and waits until its next attempt is due.</summary>
    /// <param name="delivery">The delivery of the message.</param>
    /// <param name="attempts">Receives the progress.</param>
    /// <param name="longestDelay">The longest wait, whatever was stored: clocks of hosts differ, and retry delays change.</param>
    /// <param name="waiting">Cancels the wait.</param>
    public async Task ResumeAsync(TopicDelivery delivery, DeliveryAttempts attempts, TimeSpan longestDelay, CancellationToken waiting)
    {
        if (await FindAsync(delivery, waiting) is not { } kept)
            return;
        attempts.Resume(kept);
        LogResumed(delivery.Message.Id, endpoint, kept.Count);
        if (kept.DueAt - time.GetUtcNow() is { } rest && rest > TimeSpan.Zero)
            await Task.Delay(rest < longestDelay ? rest : longestDelay, time, waiting);
    }

    /// <summary>Persists a failed attempt and the delay before the next one; a null delay means that no attempt is scheduled.</summary>
    public async Task KeepAsync(TopicDelivery delivery, DeliveryAttempts attempts, TimeSpan? delay, CancellationToken aborting)
    {
        var kept = new KeptAttempts(attempts.Count, attempts.Failures, time.GetUtcNow() + delay);
        _pages[delivery.Source.Lane] = new Page(delivery.Source.Session, delivery.Message.Id, kept);
        try
        {
            await store.KeepAsync(endpoint, delivery.Message.Id, kept, aborting);
        }
        catch (EsbException ex)
        {
            LogNotKept(delivery.Message.Id, endpoint, kept.Count, ex);
        }
    }

    /// <summary>Removes the attempts of a settled message. Cannot be cancelled.</summary>
    public async Task ForgetAsync(TopicDelivery delivery)
    {
        var id = delivery.Message.Id;
        if (!_pages.TryGetValue(delivery.Source.Lane, out var page) || page.MessageId != id || page.Kept is null)
            return;
        _pages[delivery.Source.Lane] = page with { Kept = null };
        try
        {
            await store.RemoveAsync(endpoint, id, CancellationToken.None);
        }
        catch (EsbException ex)
        {
            LogNotForgotten(id, endpoint, ex);
        }
    }

    private async Task<KeptAttempts?> FindAsync(TopicDelivery delivery, CancellationToken waiting)
    {
        var (source, id) = (delivery.Source, delivery.Message.Id);
        var known = _pages.TryGetValue(source.Lane, out var page) && page.MessageId == id ? page.Kept : null;
        if (page?.Session == source.Session)
            return known;
        var stored = await ReadAsync(id, waiting);
        var kept = stored?.Count >= (known?.Count ?? 0) ? stored : known; // another host may have continued, or the store is behind
        _pages[source.Lane] = new Page(source.Session, id, kept);
        return kept;
    }

    private async Task<KeptAttempts?> ReadAsync(Guid id, CancellationToken waiting)
    {
        try
        {
            return await store.FindAsync(endpoint, id, waiting);
        }
        catch (EsbException ex)
        {
            LogNotFound(id, endpoint, ex);
            return null;
        }
    }

    [LoggerMessage(
        EventId = 2448,
        Level = LogLevel.Information,
        Message = "Message {MessageId} resumes at {Endpoint} after {Attempts} earlier attempts"
    )]
    private partial void LogResumed(Guid messageId, string endpoint, int attempts);

    [LoggerMessage(
        EventId = 2449,
        Level = LogLevel.Warning,
        Message = "Attempt {Attempt} of message {MessageId} at {Endpoint} could not be stored; a restart forgets it"
    )]
    private partial void LogNotKept(Guid messageId, string endpoint, int attempt, Exception exception);

    [LoggerMessage(
        EventId = 2450,
        Level = LogLevel.Warning,
        Message = "The attempts of message {MessageId} at {Endpoint} could not be removed from the store, though it is settled"
    )]
    private partial void LogNotForgotten(Guid messageId, string endpoint, Exception exception);

    [LoggerMessage(
        EventId = 2451,
        Level = LogLevel.Warning,
        Message = "Whether message {MessageId} was tried at {Endpoint} before could not be read; its attempts may begin anew"
    )]
    private partial void LogNotFound(Guid messageId, string endpoint, Exception exception);

    /// <summary>The retry progress of the current message of a lane.</summary>
    private sealed record Page(Guid Session, Guid MessageId, KeptAttempts? Kept);
}
