using System.Collections.Concurrent;
using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Marks;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Core.Workflows;
using Esb.Host;
using Esb.Host.Composition;
using Esb.Storage;
using Esb.Tests.Fakes;
using Esb.Workflows.Workflows.Compiling;
using Esb.Workflows.Workflows.Engine;
using Esb.Workflows.Workflows.Running;
using Microsoft.Extensions.DependencyInjection;
using NSubstitute;

namespace Esb.Tests.Workflows.Instances;

/// <summary>Workflows of a configuration on the embedded store, which outlives the engine: each life of it ends as by kill -9.</summary>
internal sealed class WorkflowBench : IAsyncDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("esb-workflows-");
    private ServiceProvider? _services;
    private Store? _store;
    private OutboxPublisher? _outbox;
    private Checkpointer? _checkpoints;
    private TimerDispatcher? _dispatcher;

    /// <param name="workflows">The section <c>workflows</c>, as JSON.</param>
    /// <param name="sections">Further sections, as JSON, each with a comma behind it.</param>
    public WorkflowBench(string workflows, string sections = "") => Configure(workflows, sections);

    /// <summary>Changes the configuration for the next life. A map of the sections says what stands behind it in a comment.</summary>
    public void Configure(string workflows, string sections = "")
    {
        if (sections.Split("/*") is [_, var comment])
            File.WriteAllText(Path.Combine(_folder.FullName, "map.liquid"), $"made by {comment.Split("*/")[0].Trim()}");
        File.WriteAllText(
            Path.Combine(_folder.FullName, "esb.json"),
            $$"""
            {
              {{sections}}
              "store": { "type": "file", "folder": "{{Path.Combine(_folder.FullName, "data")}}" },
              "topics": { "orders": {}, "stock": {}, "bills": {}, "late": {}, "out": {} },
              "workflows": {{workflows}}
            }
            """
        );
    }

    /// <summary>What was published, in its order; a message may come more than once, with one id.</summary>
    public ConcurrentQueue<EsbMessage> Published { get; } = [];

    /// <summary>The clock of the host, which is that of the store.</summary>
    public MovedTime Clock { get; } = new();

    /// <summary>Stands between engine and store.</summary>
    public FailingWorkflowStore Gate { get; private set; } = null!;

    public IWorkflowStore Store => _store!.Workflows;

    public IAsyncEnumerable<DeadLetterSummary> Letters(CancellationToken cancellationToken) =>
        _store!.DeadLetters.FindAsync(new DeadLetterQuery(), cancellationToken);

    public WorkflowEngine Engine => _services!.GetRequiredService<WorkflowEngine>();

    public IWorkflowControl Control => _services!.GetRequiredService<IWorkflowControl>();

    public IWorkflowBatches Batches => _services!.GetRequiredService<IWorkflowBatches>();

    /// <summary>Counts of living instances, once started.</summary>
    public InstanceCounts Counts => _services!.GetRequiredService<InstanceCounts>();

    public IReplyAddresses Replies => _services!.GetRequiredService<IReplyAddresses>();

    /// <summary>The marks of the host; none is crossed.</summary>
    public IMarks Marks { get; } = Substitute.For<IMarks>();

    /// <summary>Reaches callers of every life; null for those of this life's transport.</summary>
    public IReplyAddresses? Callers { get; init; }

    /// <summary>Stands for the endpoints that steps call; null for those of the configuration.</summary>
    public IEndpointCaller? Caller { get; init; }

    /// <summary>Transactions of databases, for steps that begin one.</summary>
    public ITransactions Transactions { get; } = Substitute.For<ITransactions>();

    public AuditLog Audit { get; } = new();

    /// <summary>The subjects of what was published, each message once.</summary>
    public IEnumerable<string> Subjects => Published.DistinctBy(message => message.Id).Select(message => message.Subject);

    /// <summary>Begins a life.</summary>
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        var services = new ServiceCollection()
            .AddEsb()
            .AddSingleton<IOutgoingPublisher>(new RememberingPublisher(Published))
            .AddSingleton<IAuditTrail>(Audit)
            .AddSingleton(Marks)
            .AddSingleton<TimeProvider>(Clock)
            .AddSingleton(Transactions)
            .AddSingleton<IWorkflowStore>(provider => Gate = new FailingWorkflowStore(provider.GetRequiredService<Store>().Workflows));
        if (Callers is not null)
            services.AddSingleton(Callers);
        if (Caller is not null)
            services.AddSingleton(Caller);
        _services = BusServices.Build(_folder.FullName, new Dictionary<string, string>(), services);
        _store = _services.GetRequiredService<Store>();
        await _store.StartAsync(cancellationToken);
        _outbox = _services.GetRequiredService<OutboxPublisher>();
        _checkpoints = _services.GetRequiredService<Checkpointer>();
        _dispatcher = new TimerDispatcher(
            _services.GetRequiredService<ITimerStore>(),
            TimerKinds.All,
            Engine.FireAsync,
            Clock,
            _services.GetRequiredService<Microsoft.Extensions.Logging.ILogger<TimerDispatcher>>()
        );
        Engine.Dispatcher = _dispatcher;
        _ = _services.GetRequiredService<IWorkflowStore>();
        foreach (var model in _services.GetRequiredService<Live<WorkflowModels>>().Current.All)
            await _store.Workflows.KeepDefinitionAsync(new StoredDefinition(model.Hash, model.Name, model.Content), cancellationToken);
        await _store.Timers.ReleaseAsync(TimerKinds.Lease, cancellationToken);
        await _store.Outbox.ReleaseAsync(cancellationToken);
        _outbox.Start();
        _dispatcher.Start();
    }

    /// <summary>Makes earlier definitions available, as the bus does when it starts.</summary>
    public async Task ReviveAsync(CancellationToken cancellationToken)
    {
        var programs = _services!.GetRequiredService<WorkflowPrograms>();
        foreach (var definition in await Store.LiveDefinitionsAsync(cancellationToken))
        {
            if (programs.Has(definition))
                continue;
            var catalog = _services!.GetRequiredService<IPinnedDefinitions>().Open(definition).GetRequiredService<WorkflowCatalog>();
            programs.Keep(catalog.FindKept(definition.Workflow, definition.Hash)!);
        }
    }

    /// <summary>Ends a life: what is not in the store is lost.</summary>
    public async Task KillAsync()
    {
        Gate.Die();
        await _dispatcher!.DisposeAsync();
        await _outbox!.DisposeAsync();
        await _checkpoints!.DisposeAsync();
        await _store!.StopAsync(CancellationToken.None);
        await _services!.DisposeAsync();
        _services = null;
    }

    /// <summary>Delivers a message as a queue does: again and again, until it is settled.</summary>
    public async Task SendAsync(string workflow, EsbMessage message, CancellationToken cancellationToken)
    {
        var settled = await Engine.ReceiveAsync(workflow, new TopicDelivery(message, default, Reply: null), cancellationToken);
        LastSettlement = settled;
    }

    public Settlement? LastSettlement { get; private set; }

    public static EsbMessage Message(string subject, string body, int number = 0) =>
        EsbMessage.Create(MessageBody.FromText(body), TimeProvider.System) with
        {
            Subject = subject,
            ContentType = "application/json",
            Key = number == 0 ? null : $"{number}",
        };

    public async Task<IReadOnlyList<WorkflowInstance>> InstancesAsync(CancellationToken cancellationToken) =>
        await Store.ListAsync(new WorkflowQuery { Limit = 1000 }, cancellationToken);

    public async Task<WorkflowInstance> WaitForAsync(WorkflowState state, CancellationToken cancellationToken, int count = 1)
    {
        IReadOnlyList<WorkflowInstance> found = [];
        await Eventually.BecomesAsync(
            async () => (found = [.. (await InstancesAsync(cancellationToken)).Where(one => one.State == state)]).Count >= count,
            cancellationToken
        );
        return found[0];
    }

    public async ValueTask DisposeAsync()
    {
        if (_services is not null)
            await KillAsync();
        _folder.Delete(recursive: true);
    }

    private sealed class RememberingPublisher(ConcurrentQueue<EsbMessage> published) : IOutgoingPublisher
    {
        public Task<Task> PublishAsync(OutgoingMessage outgoing, CancellationToken cancellationToken)
        {
            published.Enqueue(outgoing.Message);
            return Task.FromResult(Task.CompletedTask);
        }
    }
}
