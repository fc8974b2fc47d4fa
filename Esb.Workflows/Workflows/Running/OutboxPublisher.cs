using System.Collections.Concurrent;
using System.Diagnostics;
using System.Threading.Channels;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Microsoft.Extensions.Logging;

namespace Esb.Workflows.Workflows.Running;

/// <summary>Publishes stored messages: those of this host at once, those that a host left behind when their claim has ended. The messages
/// of an owner are published in their order, one confirmed before the next. Thread-safe.</summary>
internal sealed partial class OutboxPublisher(
    IOutboxStore store,
    IOutgoingPublisher publisher,
    IEndpointQueues queues,
    CallerAnswers answers,
    TimeProvider time,
    ILogger<OutboxPublisher> logger
) : IAsyncDisposable
{
    private const int Batch = 100;
    private const int MostInRemoval = 256;

    // As many as a broker's channel takes unconfirmed. Thousands that wait there with a deadline would only tell each other to wait.
    private const int MostAtOnce = 256;

    private static readonly TimeSpan Claim = TimeSpan.FromSeconds(20);
    private static readonly TimeSpan Pause = TimeSpan.FromSeconds(1);

    private readonly Lock _gate = new();
    private readonly Dictionary<string, Task> _owners = []; // the end of what is being published of each
    private readonly ConcurrentDictionary<Guid, bool> _underWay = new();
    private readonly ConcurrentDictionary<string, int> _kept = new(); // messages of each owner that this host has in the store
    private readonly ConcurrentDictionary<Guid, bool> _settling = new(); // in topics of this process
    private readonly ConcurrentQueue<Guid> _behindOthers = new(); // the next scan takes them all
    private readonly SemaphoreSlim _slots = new(MostAtOnce, MostAtOnce);
    private readonly CancellationTokenSource _stopping = new();

    // Bounded by what is being published.
    private readonly Channel<OutboxMessage> _published = Channel.CreateUnbounded<OutboxMessage>(
        new UnboundedChannelOptions { SingleReader = true }
    );

    private Task _scanning = Task.CompletedTask;
    private Task _removing = Task.CompletedTask;
    private Task _extending = Task.CompletedTask;
    private int _isStarted;

    /// <summary>Owners of whose messages some are being published or wait for it.</summary>
    public int OwnersUnderWay
    {
        get
        {
            lock (_gate)
                return _owners.Count;
        }
    }

    /// <summary>Begins; does nothing if it has begun: workflows and processes share it.</summary>
    public void Start()
    {
        if (Interlocked.Exchange(ref _isStarted, 1) == 1)
            return;
        _removing = Task.Run(RemoveAsync);
        _extending = Task.Run(ExtendAsync);
        _scanning = Task.Run(ScanAsync);
    }

    /// <summary>Publishes messages that were just stored, behind those of the same owner that are under way.</summary>
    /// <param name="messages">The messages of one owner.</param>
    /// <param name="followsOthers">True if the store had earlier messages of the owner. If this host does not have them any more, another
    /// host left them behind, or they were removed meanwhile: the scan publishes all of the owner, in their order.</param>
    public void Publish(IReadOnlyList<OutboxMessage> messages, bool followsOthers)
    {
        if (messages.Count == 0)
            return;
        if (!followsOthers || _kept.ContainsKey(messages[0].Owner))
        {
            Publish(messages);
            return;
        }

        foreach (var message in messages)
            _behindOthers.Enqueue(message.Id);
    }

    private void Publish(IReadOnlyList<OutboxMessage> messages)
    {
        foreach (var ofOwner in messages.GroupBy(message => message.Owner))
        {
            List<OutboxMessage> some =
            [
                .. ofOwner.Where(message => !_settling.ContainsKey(message.Id) && _underWay.TryAdd(message.Id, true)),
            ];
            _kept.AddOrUpdate(ofOwner.Key, some.Count, (_, count) => count + some.Count);
            if (some.Count > 0)
                Begin(ofOwner.Key, some);
        }
    }

    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        await _scanning;
        await _extending;
        Task[] owners;
        lock (_gate)
            owners = [.. _owners.Values];
        await Task.WhenAll(owners);
        _published.Writer.TryComplete();
        await _removing;
    }

    private void Begin(string owner, List<OutboxMessage> messages)
    {
        var ended = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        lock (_gate)
        {
            var before = _owners.GetValueOrDefault(owner, Task.CompletedTask);
            _owners[owner] = ended.Task;
            _ = PublishAsync(before, messages, owner, ended);
        }
    }

    private async Task PublishAsync(Task before, List<OutboxMessage> messages, string owner, TaskCompletionSource ended)
    {
        await Task.Yield();
        await before;
        try
        {
            foreach (var message in messages)
            {
                if (!await TryPublishAsync(message))
                    break; // the rest keeps its order behind this one: the scan takes them up
            }
        }
        finally
        {
            foreach (var message in messages)
                _underWay.TryRemove(message.Id, out _);
            lock (_gate)
            {
                if (_owners[owner] == ended.Task)
                    _owners.Remove(owner); // a new owner with each instance: what stays is never needed again
            }

            ended.SetResult();
        }
    }

    private async Task<bool> TryPublishAsync(OutboxMessage message)
    {
        while (true)
        {
            try
            {
                await _slots.WaitAsync(_stopping.Token);
                try
                {
                    await PublishAsync(message);
                }
                finally
                {
                    _slots.Release(); // whatever is tried again gives way to the others meanwhile
                }

                return true;
            }
            catch (OperationCanceledException) when (_stopping.IsCancellationRequested)
            {
                return false;
            }
            catch (EsbException ex)
            {
                LogNotPublished(message.Message.Message.Id, message.Message.Message.Subject, ex.Message);
                if (!await WaitAsync(Pause))
                    return false;
            }
        }
    }

    private async Task PublishAsync(OutboxMessage message)
    {
        if (message.Message.ReplyTo is not null)
        {
            await answers.SendAsync(message, _stopping.Token);
            _published.Writer.TryWrite(message);
            return;
        }

        var settled = message.Queue is { } queue
            ? await SendAsync(queue, message.Message)
            : await publisher.PublishAsync(message.Message, _stopping.Token);
        if (settled.IsCompleted)
            _published.Writer.TryWrite(message);
        else
            _ = RemoveWhenSettledAsync(message, settled);
    }

    private async Task<Task> SendAsync(string queue, OutgoingMessage outgoing)
    {
        using var activity = outgoing.Parent == default ? null : Follow(outgoing.Parent);
        var result = await queues.SendAsync(queue, outgoing.Message, DeliveryKind.Replay, _stopping.Token);
        return result.Outcome == PublishOutcome.Confirmed
            ? result.Settled
            : throw new EsbException("ESB-TOPIC-UNAVAILABLE", $"{queue}: {result.Reason ?? "not confirmed"}", FaultKind.Unavailable);
    }

    // The queue passes the trace on in which the message was stored.
    private static Activity Follow(ActivityContext parent) =>
        new Activity("esb.outbox send").SetParentId(parent.TraceId, parent.SpanId, parent.TraceFlags).Start();

    // A topic in memory ends with this process: until its subscribers have settled the message, this is the only copy that lasts.
    private async Task RemoveWhenSettledAsync(OutboxMessage message, Task settled)
    {
        _settling[message.Id] = true;
        await settled.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        _settling.TryRemove(message.Id, out _);
        _published.Writer.TryWrite(message);
    }

    private async Task RemoveAsync()
    {
        var messages = new List<OutboxMessage>(MostInRemoval);
        while (await _published.Reader.WaitToReadAsync())
        {
            while (messages.Count < MostInRemoval && _published.Reader.TryRead(out var message))
                messages.Add(message);
            try
            {
                await store.RemoveAsync([.. messages.Select(message => message.Id)], CancellationToken.None);
            }
            catch (EsbException ex)
            {
                LogNotRemoved(messages.Count, ex.Message); // they are published once more, with the same ids
            }

            foreach (var message in messages)
                Forget(message.Owner);
            messages.Clear();
        }
    }

    private void Forget(string owner)
    {
        if (_kept.AddOrUpdate(owner, 0, (_, count) => count - 1) <= 0)
            _kept.TryRemove(KeyValuePair.Create(owner, 0));
    }

    private async Task ExtendAsync()
    {
        while (await WaitAsync(Claim / 3))
        {
            Guid[] ids = [.. _underWay.Keys, .. _settling.Keys];
            if (ids.Length == 0)
                continue;
            try
            {
                await store.ExtendAsync(ids, Claim, CancellationToken.None);
            }
            catch (EsbException ex)
            {
                LogNotRemoved(ids.Length, ex.Message);
            }
        }
    }

    private async Task ScanAsync()
    {
        do
        {
            try
            {
                await ReleaseAsync();
                Publish(await store.ClaimAsync(Batch, Claim, _stopping.Token));
            }
            catch (Exception ex) when (ex is EsbException or OperationCanceledException)
            {
                if (!_stopping.IsCancellationRequested)
                    LogNotRead(ex.Message);
            }
        } while (await WaitAsync(Pause));
    }

    // The store claims all messages of an owner, or none: those that are released wait behind what another host has claimed.
    private async Task ReleaseAsync()
    {
        var ids = new List<Guid>();
        while (_behindOthers.TryDequeue(out var id))
            ids.Add(id);
        if (ids.Count > 0)
            await store.ExtendAsync(ids, TimeSpan.Zero, _stopping.Token);
    }

    private async Task<bool> WaitAsync(TimeSpan pause)
    {
        await Task.Delay(pause, time, _stopping.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        return !_stopping.IsCancellationRequested;
    }

    [LoggerMessage(
        EventId = 3020,
        Level = LogLevel.Warning,
        Message = "Message {MessageId} under {Subject} could not be published; it is tried again: {Reason}"
    )]
    private partial void LogNotPublished(Guid messageId, string subject, string reason);

    [LoggerMessage(
        EventId = 3021,
        Level = LogLevel.Warning,
        Message = "The outbox could not mark {Count} messages as published; they may be published again: {Reason}"
    )]
    private partial void LogNotRemoved(int count, string reason);

    [LoggerMessage(EventId = 3022, Level = LogLevel.Warning, Message = "The outbox could not be read: {Reason}")]
    private partial void LogNotRead(string reason);
}
