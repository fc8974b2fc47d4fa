using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Expressions;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Delivery.Attempts;
using Esb.Delivery.Crashes;
using Esb.Delivery.Failures;
using Esb.Delivery.Outbound;
using Esb.Delivery.Processes;
using Esb.Delivery.SingleInstance;
using Esb.Tests.Delivery.Processes;
using Esb.Tests.Fakes;
using Microsoft.Extensions.Logging.Abstractions;
using NSubstitute;

namespace Esb.Tests.Delivery;

/// <summary>A delivery controller between a transport that the test plays and an outside that does as the test says.</summary>
[FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public abstract class DeliveryFixture
{
    /// <summary>The name of the endpoint.</summary>
    internal const string Endpoint = "an-endpoint";

    private DeliveryHandler _deliver = null!;
    private DeliveryController? _controller;

    internal ManualTime Time { get; } = new();

    internal AuditLog Audit { get; } = new();

    /// <summary>Takes the facts; <see cref="Audit"/> by default.</summary>
    internal IAuditTrail? Trail { get; set; }

    internal ToldAuditGate AuditGate { get; } = new();

    internal ScriptedEndpoint Outside { get; } = new();

    /// <summary>The endpoint's <c>process</c>; null for none.</summary>
    internal ScriptedProcess? Process { get; set; }

    /// <summary>The endpoint's <c>reply</c>; null for none.</summary>
    internal ScriptedProcess? Reply { get; set; }

    internal CrashMarks Marks { get; } = new();

    internal HostRuns Runs { get; } = new();

    /// <summary>Of the process that runs.</summary>
    internal CrashQuarantine Quarantine { get; private set; } = null!;

    internal AttemptStore Attempts { get; } = new();

    internal List<EsbMessage> Replies { get; } = [];

    internal ITopicSubscription Subscription { get; } = Substitute.For<ITopicSubscription>();

    internal Subscription? Wanted { get; set; }

    /// <summary>The number of messages that wait in the queue.</summary>
    internal long Waiting { get; set; }

    internal ITopicTransport Transport { get; private set; } = null!;

    internal IEndpointQueues Queues { get; } = Substitute.For<IEndpointQueues>();

    internal IDeadLetterStore DeadLetters { get; } = Substitute.For<IDeadLetterStore>();

    internal ILeaseStore Leases { get; } = Substitute.For<ILeaseStore>();

    internal IParkingStore Parking { get; set; } = Substitute.For<IParkingStore>();

    internal DeliveryController Controller => _controller!;

    [TearDown]
    public async Task DisposeController()
    {
        if (_controller is null)
            return;
        await _controller.DisposeAsync();
        Quarantine.Dispose();
    }

    /// <summary>Starts the endpoint; once more, it is that of a process which comes after the first.</summary>
    internal async Task StartAsync(TestOutboundConfig config)
    {
        await DisposeController();
        config = Subscribing(config);
        var transport = Transport = Substitute.For<ITopicTransport>();
        transport.IsDurable.Returns(true);
        transport.CountWaitingAsync(default!, default).ReturnsForAnyArgs(new ValueTask<long?>(Waiting));
        Quarantine = new CrashQuarantine(Runs, transport, Time, NullLogger<CrashQuarantine>.Instance);
        await Quarantine.StartAsync(CancellationToken.None);
        Subscription.IsLive.Returns(true);
        Subscription.Reason.Returns((string?)null);
        transport
            .SubscribeAsync(
                Arg.Do<Subscription>(wanted => Wanted = wanted),
                Arg.Do<DeliveryHandler>(handler => _deliver = handler),
                Arg.Any<CancellationToken>()
            )
            .Returns(Subscription);
        Queues.SendAsync(default!, default!, default, default).ReturnsForAnyArgs(PublishResult.Confirmed);
        var processes = new EndpointProcesses(config, Delivered(Process), Delivered(Reply), Time);
        var sender = new EndpointSender(config, Outside, Time, NullLoggerFactory.Instance, processes);
        var suspects = new Suspects(Marks, Time, NullLogger<Suspects>.Instance);
        var trail = Trail ?? Audit;
        var letters = new DeadLetterKeeper(transport, DeadLetters, trail, Time, NullLogger<DeadLetterKeeper>.Instance);
        var singles = new SingleInstances(areShared: true, Leases, Time, NullLogger<LeaseHolder>.Instance);
        var services = new DeliveryServices(
            transport,
            Queues,
            trail,
            AuditGate,
            Parking,
            Attempts,
            letters,
            suspects,
            Quarantine,
            singles,
            Time,
            NullLoggerFactory.Instance
        );
        _controller = new DeliveryController(Model(config, filter: null), sender, services);
        await _controller.StartAsync(CancellationToken.None);
    }

    /// <summary>Exchanges the settings, as a reload does.</summary>
    internal Task ChangeAsync(TestOutboundConfig config, IMessageCondition? filter = null) =>
        Controller.SetAsync(Model(Subscribing(config), filter), new EndpointTuning(), CancellationToken.None);

    /// <summary>Whether nobody waits for a reply any more.</summary>
    internal bool IsRequesterGone { get; set; }

    internal async Task<Settlement> DeliverAsync(TopicDelivery delivery, CancellationToken cancellationToken) =>
        await _deliver(delivery, cancellationToken);

    internal Task<Settlement> DeliverAsync(EsbMessage message, CancellationToken cancellationToken) =>
        DeliverAsync(Delivery(message), cancellationToken);

    internal Task<Settlement> RequestAsync(EsbMessage message, CancellationToken cancellationToken, DateTimeOffset? expiresAt = null) =>
        DeliverAsync(Delivery(message) with { Reply = Keep, ExpiresAt = expiresAt }, cancellationToken);

    internal static TopicDelivery Delivery(EsbMessage message) => new(message with { Subject = "orders.accepted" }, default, null);

    /// <summary>Moves the time on, step by step, as long as somebody waits for it.</summary>
    internal async Task AdvanceUntilAsync(Task task, TimeSpan step, CancellationToken cancellationToken)
    {
        while (!task.IsCompleted)
        {
            if (Time.Waiting > 0)
                Time.Advance(step);
            await Task.Delay(1, cancellationToken);
        }
    }

    private static TestOutboundConfig Subscribing(TestOutboundConfig config) =>
        config with
        {
            Name = Endpoint,
            Subscribe = [SubjectPattern.Parse("orders.#")!],
        };

    private static OutboundModel Model(TestOutboundConfig config, IMessageCondition? filter) =>
        new(config, "test-outbound", filter, Create: null);

    private DeliveredProcess? Delivered(ScriptedProcess? process) => process?.At(Endpoint, Trail ?? Audit, Time);

    private ValueTask<bool> Keep(EsbMessage answer, CancellationToken token)
    {
        Replies.Add(answer);
        return ValueTask.FromResult(!IsRequesterGone);
    }
}

internal sealed record TestOutboundConfig : OutboundEndpointConfig
{
    public bool Answering { get; init; } = true;

    public override bool Answers => Answering;
}
