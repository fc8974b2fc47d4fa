using System.Collections.Concurrent;
using System.Collections.Immutable;
using System.Diagnostics;
using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Messages;
using Esb.Core.Planning;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Topics.ClaimChecks;
using Esb.Topics.Farm;
using Esb.Topics.RabbitMq.Connections;
using Esb.Topics.RabbitMq.Farm;
using Esb.Topics.RabbitMq.Publishing;
using Esb.Topics.RabbitMq.Receiving;
using Esb.Topics.RabbitMq.Replies;
using Esb.Topics.RabbitMq.Topology;
using Esb.Topics.RabbitMq.Unroutable;
using Esb.Topics.RabbitMq.Wire;
using Microsoft.Extensions.Logging;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq;

/// <summary>Topics on a RabbitMQ broker, with the broker's own client: declares, publishes, replies and receives.</summary>
/// <remarks>Uses two connections, as an alarm stops the broker from reading a connection that publishes; the farm has a third.</remarks>
internal sealed partial class RabbitMqTransport : IBusTransport
{
    // A host that stands still is detected after two to three heartbeats; only then may another take its place where the order counts.
    private static readonly TimeSpan FailoverHeartbeat = TimeSpan.FromSeconds(4);
    private static readonly TimeSpan LongestDeclaration = TimeSpan.FromSeconds(15);

    // The sender tries again.
    private static readonly PublishResult Replaced = PublishResult.Refused("its queues are being replaced");

    private readonly RabbitMqNames _names;
    private readonly RabbitMqTopology _topology;
    private readonly BrokerUser _user;
    private readonly WireReader _reader;
    private readonly KnownTopics _topics;
    private readonly bool _hasOtherNodes;
    private readonly Live<LimitsConfig> _limits;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;
    private readonly BrokerConnection _publishing;
    private readonly BrokerConnection _consuming;
    private readonly ConfirmedPublisher _publisher;
    private readonly Passages _passages;
    private readonly BodyClaims _claims;
    private readonly DeliverySettler _settler;
    private readonly ConcurrentDictionary<string, SeenDeliveries> _seen = new();
    private readonly CancellationTokenSource _stopping = new();
    private readonly EndpointRecords _records;
    private readonly EndpointHomes _homes;
    private readonly FreezeWatch _freezes;
    private readonly EndpointSetup _setup;
    private readonly ReceiverContext _receivers;
    private readonly ExpiredRequests _expired;
    private volatile Dictionary<string, Subscription> _configured;
    private readonly ConcurrentDictionary<string, Subscription> _endpoints = new();
    private readonly ConcurrentDictionary<string, bool> _declared = new();
    private readonly ConcurrentDictionary<string, RetiredEndpoint> _retired = new();
    private ImmutableArray<RabbitMqSubscription> _untried = [];
    private ReplyQueue? _replies;
    private LoopbackProbe? _probe;
    private UnroutableWatch? _unroutable;
    private Task _keeping = Task.CompletedTask;
    private int _disposed;

    public RabbitMqTransport(
        RabbitMqTransportConfig config,
        string name,
        IReadOnlyDictionary<string, TopicConfig> topics,
        IEnumerable<Subscription> endpoints,
        Live<LimitsConfig> limits,
        IClaimCheckStore claims,
        FarmKeys keys,
        TimeProvider time,
        ILoggerFactory loggers
    )
    {
        var address = RabbitMqAddress.Of(config, time.GetUtcNow());
        (_hasOtherNodes, _limits, _time, _logger) = (address.Nodes.Count > 1, limits, time, loggers.CreateLogger<RabbitMqTransport>());
        _names = new RabbitMqNames(config.Prefix, name);
        _topics = new KnownTopics(topics);
        _topology = new RabbitMqTopology(_names, () => _topics.Names);
        _user = new BrokerUser(address.User, _logger);
        _reader = new WireReader(_names, new WireSignature(keys, _user), time);
        _publishing = new BrokerConnection(address.ToFactory($"{name} publish"), PrepareAsync, time, _logger);
        _consuming = new BrokerConnection(
            address.ToFactory($"{name} consume", FailoverHeartbeat),
            (_, _) => Task.CompletedTask,
            time,
            _logger
        );
        _publisher = new ConfirmedPublisher(_publishing, _user, new WireSignature(keys, _user), time);
        _passages = new Passages(time);
        _claims = new BodyClaims(claims, limits, _topics.TravelWhole, time, _logger);
        _settler = new DeliverySettler(_names, _publisher, _claims, time, _logger);
        _configured = endpoints.ToDictionary(endpoint => endpoint.Endpoint);
        _expired = new ExpiredRequests(_names, _reader, FindEndpoint, SendAsync, _logger);
        Unroutable = new UnroutableQueue(_consuming, _publisher, _names, _reader, _topics, time, _logger);
        _records = new EndpointRecords(_publisher);
        _homes = new EndpointHomes(_names, _records);
        _freezes = new FreezeWatch(time);
        Farm = new BrokerFarm(address, _names.Farm, keys, time, loggers);
        _setup = new EndpointSetup(_names, _topology, _records, _homes, address.ToFactory($"{name} setup"), time);
        _receivers = new ReceiverContext(_names, _consuming, _setup, Farm, _freezes, time, _logger);
    }

    public string System => "rabbitmq";

    public IUnroutableMessages Unroutable { get; }

    public bool IsDurable => true;

    /// <summary>The hosts that share this configuration.</summary>
    public BrokerFarm Farm { get; }

    IFarm IBusTransport.Farm => Farm;

    public TransportStatus Status => (Obstacle ?? FindUndeclared()) is { } reason ? new(IsReady: false, reason) : new(IsReady: true);

    private string? Obstacle => _publishing.LastingObstacle ?? _consuming.LastingObstacle ?? _probe?.Obstacle;

    public async Task StartAsync(CancellationToken cancellationToken)
    {
        await Task.WhenAll(_publishing.StartAsync(cancellationToken), _consuming.StartAsync(cancellationToken));
        _replies = new ReplyQueue(_consuming, _publisher, _names, _reader, _claims, _time, _logger);
        _probe = new LoopbackProbe(_hasOtherNodes, _publishing, _consuming, _replies, _publisher, _names, _time, _logger);
        Farm.Answer<HoldPublishes, PublishesHeld>(HoldAsync);
        Farm.Start(_consuming);
        _unroutable = new UnroutableWatch(_consuming, _names, _topology, FindSubscriber, _time, _logger);
        _keeping = KeepUp("the queues for what no endpoint takes", [_topology.DeclareKeepersAsync])
            .RunAsync(_consuming, AreKeepersDeclared, _stopping.Token);
    }

    public async ValueTask<PublishResult> PublishAsync(EsbMessage message, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        message = await _claims.CheckInAsync(message);
        return await PublishAsync(message, WireWriter.Publish(message, IsPersistent(message)));
    }

    public async Task<Task<EsbMessage>> SendRequestAsync(EsbMessage request, TimeSpan timeout, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        if (_replies is null || await _replies.FindNameAsync(cancellationToken) is not { } replyTo)
            throw TopicFaults.Unavailable(request.Subject, PublishResult.Refused(Status.Reason ?? "replies cannot be received"));
        var travelling = await _claims.CheckInAsync(request);
        var properties = WireWriter.Request(travelling, IsPersistent(request), replyTo, timeout, _time.GetUtcNow());
        return await _replies.SendAsync(request, () => PublishAsync(travelling, properties), timeout, cancellationToken);
    }

    public async ValueTask<PublishResult> PublishRequestAsync(EsbMessage request, TimeSpan timeout, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        var travelling = await _claims.CheckInAsync(request);
        var properties = WireWriter.Request(travelling, IsPersistent(request), _names.DurableReplies, timeout, _time.GetUtcNow());
        return await PublishAsync(travelling, properties);
    }

    public Task<ITopicReader> ReceiveRepliesAsync(ReplyHandler handler, CancellationToken cancellationToken) =>
        Task.FromResult<ITopicReader>(new ReplyReader(_consuming, _names, _topology, _reader, _claims, handler, _time, _logger));

    public async Task<AwaitedReply> AwaitAsync(EsbMessage request, TimeSpan timeout, CancellationToken cancellationToken) =>
        _replies is { } replies && await replies.FindNameAsync(cancellationToken) is { } queue
            ? replies.Await(request, queue, timeout)
            : throw TopicFaults.Unavailable("The reply queue", PublishResult.Refused(Status.Reason ?? "replies cannot be received"));

    public ValueTask<bool> ReplyAsync(string address, EsbMessage reply, CancellationToken cancellationToken) =>
        ReplyAddress.Parse(address) is { } known ? _settler.ReplyAsync(known, reply, cancellationToken) : ValueTask.FromResult(false);

    public async Task DeclareAsync(Subscription subscription, CancellationToken cancellationToken)
    {
        _endpoints[subscription.Endpoint] = subscription;
        if (_consuming.Current is not { } connection)
            return;
        try
        {
            await _setup.ApplyAsync(connection, subscription, cancellationToken).WaitAsync(LongestDeclaration, _time, cancellationToken);
            _declared[subscription.Endpoint] = true;
        }
        catch (Exception ex) when (!cancellationToken.IsCancellationRequested)
        {
            LogNotDeclared(subscription.Endpoint, BrokerFault.Describe(ex)); // the subscriber receives the reason and tries again
        }
    }

    public async Task ChangeAsync(
        IReadOnlyDictionary<string, TopicConfig> topics,
        IReadOnlyList<Subscription> endpoints,
        CancellationToken cancellationToken
    )
    {
        _topics.Change(topics);
        _configured = endpoints.ToDictionary(endpoint => endpoint.Endpoint);
        if (_publishing.Current is { } connection)
            await _topology.DeclareSharedAsync(connection, cancellationToken); // otherwise once connected
    }

    // If the broker is unreachable, the queue is unbound after the reconnect: until then messages for the endpoint collect in its queue.
    public Task RetireAsync(Subscription subscription, CancellationToken cancellationToken)
    {
        _endpoints.TryRemove(subscription.Endpoint, out _);
        _declared.TryRemove(subscription.Endpoint, out _);
        var retired = new RetiredEndpoint(
            subscription,
            _names,
            _topology,
            () => _endpoints.ContainsKey(subscription.Endpoint),
            _time,
            _logger
        );
        _retired[subscription.Endpoint] = retired;
        return retired.UnbindAsync(_consuming, _stopping.Token);
    }

    public IReadOnlyList<(string Endpoint, long Waiting)> Abandoned =>
        [
            .. _retired
                .Select(one => (one.Key, one.Value.Waiting))
                .Where(one => one.Waiting > 0)
                .OrderBy(one => one.Key, StringComparer.Ordinal),
        ];

    public async ValueTask<long?> CountWaitingAsync(Subscription subscription, CancellationToken cancellationToken)
    {
        if (_consuming.Current is not { } connection || _names.Chosen(subscription.Endpoint) is not { } queues)
            return null;
        try
        {
            return await connection
                .CountWaitingAsync(queues, subscription, cancellationToken)
                .WaitAsync(LongestDeclaration, _time, cancellationToken);
        }
        catch (Exception ex) when (!cancellationToken.IsCancellationRequested)
        {
            throw TopicFaults.NotAnswered(BrokerFault.Describe(ex));
        }
    }

    public async Task<ITopicSubscription> SubscribeAsync(
        Subscription subscription,
        DeliveryHandler handler,
        CancellationToken cancellationToken
    )
    {
        _endpoints[subscription.Endpoint] = subscription;
        var work = new DeliveryWork(
            subscription,
            handler,
            _reader,
            _claims,
            _settler,
            _seen.GetOrAdd(subscription.Endpoint, _ => new SeenDeliveries()),
            _limits,
            _time,
            _logger
        );
        List<Declaration> declarations =
        [
            (channel, token) => _topology.BindAsync(channel, _names.Of(subscription.Endpoint), subscription, token),
        ];
        if (subscription.RetryDelays.Count > 0)
            declarations.Add(
                (channel, token) => _topology.DeclareRungsAsync(channel, _names.Of(subscription.Endpoint), subscription, token)
            );
        var stale = new StaleBindings(subscription, _names, _topology, _records, Farm.Members, _time, _logger);
        var running = new RabbitMqSubscription(
            subscription,
            _receivers,
            work,
            KeepUp($"the queues of {subscription.Endpoint}", declarations),
            stale
        );
        // Published messages find a queue that was declared before, whenever it is consumed.
        if (!_declared.ContainsKey(subscription.Endpoint))
            ImmutableInterlocked.Update(ref _untried, static (untried, added) => untried.Add(added), running);
        try
        {
            if (Obstacle is null)
                await running.WaitForFirstAttemptAsync(cancellationToken);
            return running;
        }
        catch
        {
            await running.DisposeAsync(); // no other reference exists
            throw;
        }
    }

    public async ValueTask<PublishResult> SendAsync(
        string endpoint,
        EsbMessage message,
        DeliveryKind kind,
        CancellationToken cancellationToken
    )
    {
        cancellationToken.ThrowIfCancellationRequested();
        message = await _claims.CheckInAsync(message);
        return await SendAsync(
            endpoint,
            message,
            WireWriter.Direct(message, kind, Activity.Current?.Context ?? default),
            cancellationToken
        );
    }

    public Task<ITopicReader> ReadDeadLettersAsync(DeadLetterHandler handler, CancellationToken cancellationToken) =>
        Task.FromResult<ITopicReader>(
            new DeadLetterReader(
                _consuming,
                _names,
                _reader,
                _expired,
                new OldDeadLetters(_consuming, _publisher, _names, _topology, _homes),
                _claims.Redeeming(handler),
                _time,
                _logger
            )
        );

    public async ValueTask DisposeAsync()
    {
        if (Interlocked.Exchange(ref _disposed, 1) == 1)
            return;
        await _stopping.CancelAsync();
        if (_probe is not null)
            await _probe.DisposeAsync();

        // Dispose connections before their users: with an unresponsive broker, each open channel would be waited for separately, for 20 s.
        await Task.WhenAll(Farm.DisposeAsync().AsTask(), _consuming.DisposeAsync().AsTask(), _publishing.DisposeAsync().AsTask());
        if (_replies is not null)
            await _replies.DisposeAsync();
        if (_unroutable is not null)
            await _unroutable.DisposeAsync();
        await _keeping;
        await _publisher.DisposeAsync();
        _freezes.Dispose();
    }

    private async ValueTask<PublishResult> SendAsync(
        string endpoint,
        EsbMessage message,
        BasicProperties properties,
        CancellationToken cancellationToken
    )
    {
        if (await FindQueuesAsync(endpoint, cancellationToken) is not { } queues)
            return _publishing.Obstacle is { } obstacle ? PublishResult.Refused(obstacle) : Replaced;
        var subscription = _endpoints.GetValueOrDefault(endpoint);
        return await _passages.PassAsync(
            queues.Queue,
            async () =>
            {
                if (_names.Chosen(endpoint) != queues)
                    return Replaced; // changed while this was held back
                if (subscription?.Lanes is not null)
                    return await SendToLanesAsync();
                var result = await _publisher.SendAsync("", queues.Queue, message.Key, properties, message.Body.Bytes);
                if (result != ConfirmedChannel.NoQueue || subscription is not null)
                    return result;
                if (await HasLanesAsync(queues, cancellationToken))
                    return await SendToLanesAsync();
                _names.Forget(queues.Queue); // it may appear or be moved without notice
                return result;
            }
        );

        ValueTask<PublishResult> SendToLanesAsync() =>
            _publisher.SendAsync(queues.Queue, message.Subject, message.Key, properties, message.Body.Bytes);
    }

    // Returns null while the queues are moved, and if they belong to another configuration.
    private async ValueTask<EndpointNames?> FindQueuesAsync(string endpoint, CancellationToken cancellationToken)
    {
        if (_names.Chosen(endpoint) is { } chosen)
            return chosen;
        if (_consuming.Current is not { } connection)
            return null;
        try
        {
            var home = await _homes.FindAsync(connection, endpoint, cancellationToken);
            if (home is { Stranger: not null } or { Record.IsMoving: true })
                return null;
            _names.Choose(home.Names);
            return home.Names;
        }
        catch (Exception) when (!cancellationToken.IsCancellationRequested)
        {
            return null; // the connection is lost, or the broker does not respond: the sender tries again
        }
    }

    // Queues that are about to be deleted receive no more messages.
    private Task<PublishesHeld> HoldAsync(HoldPublishes question, CancellationToken cancellationToken)
    {
        foreach (var queue in question.Destinations)
            _names.Forget(queue);
        return _passages.ObeyAsync(question, cancellationToken);
    }

    private TopologyUpkeep KeepUp(string what, IReadOnlyList<Declaration> declarations) => new(what, declarations, _time, _logger);

    // The publishing connection declares them before it is used. The broker confirms unroutable messages even if the queue that keeps them
    // is gone.
    private bool AreKeepersDeclared() => _publishing.Current is not null;

    // Used only for an endpoint that runs on other hosts.
    private async Task<bool> HasLanesAsync(EndpointNames queues, CancellationToken cancellationToken)
    {
        try
        {
            return _consuming.Current is { } connection && await connection.HasQueueAsync(queues.Lane(0), cancellationToken);
        }
        catch (Exception) when (!cancellationToken.IsCancellationRequested)
        {
            return false; // the connection is lost, or the broker does not respond: the sender tries again
        }
    }

    // Messages published before the queues of this host's endpoints first exist would find no queue.
    private string? FindUndeclared()
    {
        var untried = _untried;
        foreach (var subscription in untried)
        {
            if (!subscription.HasTried)
                return "the queues of the endpoints are being declared";
        }

        if (!untried.IsEmpty)
            ImmutableInterlocked.InterlockedCompareExchange(ref _untried, [], untried);
        return null;
    }

    private async Task PrepareAsync(IConnection connection, CancellationToken cancellationToken)
    {
        BrokerVersion.Check(connection, _logger);
        await _topology.DeclareSharedAsync(connection, cancellationToken);
        await _user.ProveAsync(connection, _names.Probes, cancellationToken);
    }

    private ValueTask<PublishResult> PublishAsync(EsbMessage message, BasicProperties properties)
    {
        var exchange = _names.TopicOf(message.Subject);
        return _passages.PassAsync(
            exchange,
            () => _publisher.PublishAsync(exchange, message.Subject, message.Key, properties, message.Body.Bytes)
        );
    }

    // Includes an endpoint that runs only on other hosts, or not yet.
    private Subscription? FindEndpoint(string name) => _endpoints.GetValueOrDefault(name) ?? _configured.GetValueOrDefault(name);

    // Returns an endpoint of this host that subscribes to the subject.
    private string? FindSubscriber(string subject) =>
        _endpoints.Values.FirstOrDefault(endpoint => endpoint.Patterns.Any(pattern => pattern.Matches(subject)))?.Endpoint;

    [LoggerMessage(EventId = 1561, Level = LogLevel.Warning, Message = "The queues of {Endpoint} are not declared yet: {Reason}")]
    private partial void LogNotDeclared(string endpoint, string reason);

    private bool IsPersistent(EsbMessage message) => _topics.IsPersistent(message.Subject);
}
