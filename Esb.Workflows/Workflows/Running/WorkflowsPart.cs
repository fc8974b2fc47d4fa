using Esb.Configuration.Revisions;
using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Core.Workflows;
using Esb.Workflows.Workflows.Compiling;
using Esb.Workflows.Workflows.Engine;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Esb.Workflows.Workflows.Running;

/// <summary>Receives the messages of all workflows, fires their timers and publishes what they store, as long as the bus runs.</summary>
internal sealed partial class WorkflowsPart(
    Live<WorkflowModels> models,
    WorkflowEngine engine,
    WorkflowPrograms programs,
    EarlierPrograms earlier,
    BackgroundRuns background,
    Checkpointer checkpoints,
    OutboxPublisher outbox,
    InstanceCounts counts,
    IWorkflowStore store,
    ITimerStore timers,
    IOutboxStore messages,
    StoreConfig config,
    ITopicTransport transport,
    Esb.Core.Audit.IAuditGate audit,
    TimeProvider time,
    ILoggerFactory loggers
) : IBusPart, IRevisionPart
{
    private static readonly TimeSpan Pause = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan CleaningInterval = TimeSpan.FromMinutes(10);

    private readonly ILogger _logger = loggers.CreateLogger<WorkflowsPart>();
    private readonly Dictionary<string, (Subscription Subscription, ITopicSubscription Running)> _running = [];
    private readonly SemaphoreSlim _changing = new(1, 1);
    private readonly CancellationTokenSource _stopping = new();
    private TimerDispatcher? _dispatcher;
    private readonly TaskCompletionSource _isRevived = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private ITopicReader? _replies;
    private Task _opening = Task.CompletedTask;
    private Task _sweeping = Task.CompletedTask;
    private Task _cleaning = Task.CompletedTask;
    private bool _isUsed;

    public BusStage Stage => BusStage.Outbound;

    public IReadOnlyList<Type> StartsAfter => [typeof(IOutboundGround)];

    public async Task StartAsync(CancellationToken cancellationToken)
    {
        foreach (var subscription in SubscriptionsOf(models.Current))
            await transport.DeclareAsync(subscription, cancellationToken); // messages wait there meanwhile
        _opening = OpenAsync(isExchange: false);
        await Task.WhenAny(_opening, Task.Delay(TimeSpan.FromSeconds(5), time, cancellationToken));
    }

    public async Task StopAsync(CancellationToken cancellationToken)
    {
        await _stopping.CancelAsync();
        await _opening;
        foreach (var (_, running) in _running.Values)
            await running.DisposeAsync();
        _running.Clear();
        if (_replies is not null)
            await _replies.DisposeAsync();
        await background.StopAsync();
        if (_dispatcher is not null)
            await _dispatcher.DisposeAsync();
        await _sweeping;
        await _cleaning;
        await counts.DisposeAsync();
        await outbox.DisposeAsync();
        await checkpoints.DisposeAsync();
    }

    public async Task WelcomeAsync(Revision next, CancellationToken cancellationToken)
    {
        foreach (var subscription in SubscriptionsOf(next.Services.GetRequiredService<WorkflowModels>()))
            await transport.DeclareAsync(subscription, cancellationToken);
    }

    public async Task ExchangeAsync(Revision next, Leftovers old, CancellationToken cancellationToken)
    {
        await _opening;
        _opening = OpenAsync(isExchange: true);
        await Task.WhenAny(_opening, Task.Delay(TimeSpan.FromSeconds(5), time, cancellationToken));
    }

    private async Task UseAsync()
    {
        if (_isUsed)
            return;
        if (!config.IsShared)
        {
            await timers.ReleaseAsync(TimerKinds.Lease, CancellationToken.None);
            await messages.ReleaseAsync(CancellationToken.None);
        }

        _isUsed = true;
        _replies = await transport.ReceiveRepliesAsync(TakeReplyAsync, CancellationToken.None); // before requests are published
        outbox.Start();
        _dispatcher = engine.Dispatcher = new TimerDispatcher(
            timers,
            TimerKinds.All,
            engine.FireAsync,
            time,
            loggers.CreateLogger<TimerDispatcher>()
        );
        _dispatcher.Start();
        counts.Start();
        _sweeping = SweepAsync();
        _cleaning = CleanAsync();
    }

    private IEnumerable<Subscription> SubscriptionsOf(WorkflowModels some) =>
        some.All.Select(SubscriptionOf).Where(subscription => subscription.Patterns.Count > 0);

    // Messages for instances of earlier definitions come through the same queue.
    private Subscription SubscriptionOf(WorkflowModel model)
    {
        var subscription = WorkflowSubscription.Of(model);
        var others = programs.Living(model.Name).SelectMany(program => program.Model.Subjects);
        return subscription with { Patterns = [.. subscription.Patterns.Concat(others).Distinct()] };
    }

    // A definition is kept before the first instance of it can begin.
    private async Task OpenAsync(bool isExchange)
    {
        while (!_stopping.IsCancellationRequested)
        {
            try
            {
                await OpenOnceAsync(isExchange);
                return;
            }
            catch (EsbException ex)
            {
                LogNotOpened(ex.Message);
                await Task.Delay(Pause, time, _stopping.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            }
        }
    }

    private async Task OpenOnceAsync(bool isExchange)
    {
        await _changing.WaitAsync();
        try
        {
            var current = models.Current;
            if (current.All.Count == 0 && !_isUsed)
                return;
            await UseAsync();
            await KeepDefinitionsAsync();
            await ReviveAsync(isExchange);
            _isRevived.TrySetResult();
            var wanted = SubscriptionsOf(current).ToDictionary(subscription => subscription.Endpoint);
            foreach (var (name, (subscription, running)) in _running.ToList())
            {
                if (wanted.TryGetValue(name, out var same) && IsSame(same, subscription))
                    continue;
                await running.DisposeAsync();
                _running.Remove(name);
                if (same is null)
                    await transport.RetireAsync(subscription, CancellationToken.None);
            }

            foreach (var (name, subscription) in wanted.Where(one => !_running.ContainsKey(one.Key)))
            {
                var workflow = WorkflowQueues.WorkflowOf(name)!;
                _running[name] = (
                    subscription,
                    await transport.SubscribeAsync(
                        subscription with
                        {
                            TurnOf = message => engine.TurnOf(workflow, message),
                        },
                        (delivery, token) => ReceiveAsync(workflow, delivery, token),
                        CancellationToken.None
                    )
                );
            }
        }
        finally
        {
            _changing.Release();
        }
    }

    private async Task KeepDefinitionsAsync()
    {
        foreach (var model in models.Current.All)
            await store.KeepDefinitionAsync(new StoredDefinition(model.Hash, model.Name, model.Content), CancellationToken.None);
    }

    // An operator who puts another configuration into service has agreed that instances without what they need are suspended. At a start
    // they are only when they are next touched: what this host lacks, another one may have.
    private async Task ReviveAsync(bool isExchange)
    {
        foreach (var definition in await store.LiveDefinitionsAsync(CancellationToken.None))
        {
            if (!earlier.TryCompile(definition) && isExchange)
                await engine.SuspendAllAsync(definition, CancellationToken.None);
        }
    }

    private static bool IsSame(Subscription one, Subscription other) =>
        one.Lanes == other.Lanes && one.Patterns.SequenceEqual(other.Patterns);

    private async ValueTask<Settlement> ReceiveAsync(string workflow, TopicDelivery delivery, CancellationToken cancellationToken)
    {
        try
        {
            if (_stopping.IsCancellationRequested)
                return Settlement.Return;
            await audit.WaitAsync(cancellationToken);
            return await engine.ReceiveAsync(workflow, delivery, cancellationToken);
        }
        catch (Exception ex) when (ex is EsbException or OperationCanceledException)
        {
            if (ex is EsbException)
                LogReturned(delivery.Message.Id, workflow, ex.Message);
            await Task.Delay(Pause, time, CancellationToken.None);
            return Settlement.Return;
        }
    }

    // Of an earlier definition, too.
    private async ValueTask TakeReplyAsync(Guid request, EsbMessage reply, CancellationToken cancellationToken)
    {
        using var ending = CancellationTokenSource.CreateLinkedTokenSource(_stopping.Token, cancellationToken);
        await _isRevived.Task.WaitAsync(ending.Token);
        await audit.WaitAsync(ending.Token);
        await engine.ReceiveReplyAsync(request, reply, CancellationToken.None);
    }

    private async Task SweepAsync()
    {
        while (await WaitAsync(Pause))
        {
            try
            {
                await engine.MatchEarlyAsync(_stopping.Token);
                await engine.StartHeldAsync(_stopping.Token);
            }
            catch (Exception ex) when (ex is EsbException or OperationCanceledException)
            {
                if (!_stopping.IsCancellationRequested)
                    LogNotSwept(ex.Message);
            }
        }
    }

    private async Task CleanAsync()
    {
        do
        {
            try
            {
                await KeepDefinitionsAsync();
                await store.RemoveOldAsync(
                    models.Current.All.ToDictionary(model => model.Name, model => model.Config.Retention),
                    WorkflowConfig.DefaultRetention,
                    _stopping.Token
                );
            }
            catch (Exception ex) when (ex is EsbException or OperationCanceledException)
            {
                if (!_stopping.IsCancellationRequested)
                    LogNotCleaned(ex.Message);
            }
        } while (await WaitAsync(CleaningInterval));
    }

    private async Task<bool> WaitAsync(TimeSpan pause)
    {
        await Task.Delay(pause, time, _stopping.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        return !_stopping.IsCancellationRequested;
    }

    [LoggerMessage(EventId = 3030, Level = LogLevel.Warning, Message = "The workflows do not run yet: {Reason}")]
    private partial void LogNotOpened(string reason);

    [LoggerMessage(
        EventId = 3031,
        Level = LogLevel.Warning,
        Message = "Message {MessageId} of workflow {Workflow} had no effect, and comes again: {Reason}"
    )]
    private partial void LogReturned(Guid messageId, string workflow, string reason);

    [LoggerMessage(EventId = 3032, Level = LogLevel.Warning, Message = "Early messages of workflows were not looked at: {Reason}")]
    private partial void LogNotSwept(string reason);

    [LoggerMessage(EventId = 3033, Level = LogLevel.Warning, Message = "Ended instances of workflows were not removed: {Reason}")]
    private partial void LogNotCleaned(string reason);
}
