using System.Collections.Immutable;
using System.Text.Json;
using Esb.Core.Configuration;
using Esb.Core.Diagnostics;
using Esb.Core.Errors;
using Esb.Core.Topics;
using Esb.Topics.Farm;
using Esb.Topics.RabbitMq.Connections;
using Microsoft.Extensions.Logging;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq.Farm;

/// <summary>The hosts of one configuration on one broker. Each announces every two seconds that it is alive and what it receives.</summary>
internal sealed partial class BrokerFarm : IFarm, IAsyncDisposable
{
    private static readonly TimeSpan PublishDeadline = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan KeyInterval = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan LookInterval = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan LongestSilence = TimeSpan.FromSeconds(20);

    private readonly RabbitMqAddress _address;
    private readonly string _exchange;
    private readonly TimeProvider _time;
    private readonly ILoggerFactory _loggers;
    private readonly ILogger _logger;
    private readonly FarmKeys _keys;
    private readonly FarmSeal _seal;
    private readonly LogPace _refusals;
    private readonly FarmCommands _commands;
    private readonly FarmQuestions _questions;
    private readonly CancellationTokenSource _stopping = new();
    private readonly SemaphoreSlim _news = new(0);
    private readonly Lock _gate = new();
    private ImmutableSortedDictionary<string, FarmReceiver> _receives = ImmutableSortedDictionary<string, FarmReceiver>.Empty;
    private volatile ControlBus? _bus;
    private Task _running = Task.CompletedTask;
    private Task _loading = Task.CompletedTask;

    public BrokerFarm(RabbitMqAddress address, string exchange, FarmKeys keys, TimeProvider time, ILoggerFactory loggers)
    {
        (_address, _exchange, _time, _loggers) = (address, exchange, time, loggers);
        (_keys, _seal, _refusals) = (keys, new FarmSeal(keys, exchange, time), new LogPace(time));
        _logger = loggers.CreateLogger<BrokerFarm>();
        _commands = new FarmCommands(_logger);
        Members = new FarmMembers(Self, time);
        _questions = new FarmQuestions(
            Self,
            _commands,
            SayAsync,
            () => [.. Hosts.Where(host => host.Id != Self.Id)],
            () => Members.KnowsAll,
            time
        );
    }

    public FarmHost Self { get; } = FarmHost.OfThisProcess();

    public FarmMembers Members { get; }

    public IReadOnlyList<FarmHost> Hosts => Members.Hosts;

    /// <summary>Joins the farm as soon as there is a connection.</summary>
    public void Start(BrokerConnection connection)
    {
        _loading = LoadKeyAsync(_stopping.Token);
        _running = BrokerLoop.RunAsync(connection, TakePartAsync, _time, _stopping.Token);
    }

    /// <summary>Announces what this host receives for an endpoint; null if it no longer receives for it.</summary>
    public void Announce(string endpoint, FarmReceiver? receiver)
    {
        lock (_gate)
        {
            _receives = receiver is null ? _receives.Remove(endpoint) : _receives.SetItem(endpoint, receiver);
            Members.Receive([.. _receives.Values]);
        }

        _news.Release();
    }

    /// <exception cref="EsbException"><c>ESB-FARM-UNAVAILABLE</c>; <c>ESB-FARM-KEY</c>: there are other hosts, and no key to sign
    /// with.</exception>
    public async Task BroadcastAsync<TCommand>(TCommand command, CancellationToken cancellationToken)
        where TCommand : class
    {
        var (kind, body) = (FarmCommands.KindOf<TCommand>(), FarmCommands.Write(command));
        if (await CanSignAsync(cancellationToken))
            await SayAsync(kind, body, cancellationToken);
        else if (IsAlone)
            _commands.Add(Self.Id, kind, body);
        else
            throw NoKey();
    }

    public IDisposable Subscribe<TCommand>(FarmCommandHandler<TCommand> handler)
        where TCommand : class => _commands.Subscribe(handler);

    public Task<FarmAnswers<TAnswer>> AskOthersAsync<TQuestion, TAnswer>(
        TQuestion question,
        TimeSpan patience,
        CancellationToken cancellationToken
    )
        where TQuestion : class
        where TAnswer : class => AskSignedAsync<TQuestion, TAnswer>(question, patience, cancellationToken);

    public IDisposable Answer<TQuestion, TAnswer>(FarmQuestionHandler<TQuestion, TAnswer> handler)
        where TQuestion : class
        where TAnswer : class => _questions.Answer(handler);

    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        await _running;
        await _loading;
        await _commands.DisposeAsync();
    }

    // Runs from the start of a bus until it falls silent.
    private async Task TakePartAsync(IConnection connection, Backoff backoff, CancellationToken stopping)
    {
        ControlBus? bus = null;
        try
        {
            bus = _bus = await ControlBus.StartAsync(_address, _exchange, Self, Hear, _loggers, stopping);
            LogJoined(_exchange);
            var heard = _time.GetTimestamp();
            while (_time.GetElapsedTime(heard) < LongestSilence)
            {
                await PublishAsync(bus, FarmMessage.Heartbeat, JsonSerializer.Serialize(_receives.Values), stopping);
                await _news.WaitAsync(FarmMembers.Interval, stopping);
                Members.Sweep();
                if (Members.HearingFor > TimeSpan.Zero)
                    heard = _time.GetTimestamp();
                if (Members.HearingFor > TimeSpan.Zero)
                    backoff.Reset();
            }

            LogSilent(_exchange);
        }
        catch (Exception ex)
        {
            if (!stopping.IsCancellationRequested)
                LogInterrupted(_exchange, ex); // an interrupted start of a bus fails in many ways
        }
        finally
        {
            _bus = null;
            if (bus is not null)
                await LeaveAsync(bus);
        }
    }

    private async Task SayAsync(string kind, string body, CancellationToken cancellationToken)
    {
        if (_bus is not { } bus)
            throw Unavailable(inner: null);
        using var deadline = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        deadline.CancelAfter(PublishDeadline);
        try
        {
            await bus.PublishAsync(Say(kind, body), deadline.Token);
        }
        catch (Exception ex) when (!cancellationToken.IsCancellationRequested)
        {
            throw Unavailable(ex);
        }
    }

    private async Task LeaveAsync(ControlBus bus)
    {
        await PublishAsync(bus, FarmMessage.Goodbye, "", CancellationToken.None);
        await bus.DisposeAsync();
    }

    // The next message makes up for a lost one; a host that is silent for long is considered gone.
    private async Task PublishAsync(ControlBus bus, string kind, string body, CancellationToken stopping)
    {
        using var deadline = CancellationTokenSource.CreateLinkedTokenSource(stopping);
        deadline.CancelAfter(PublishDeadline);
        try
        {
            await bus.PublishAsync(Say(kind, body), deadline.Token);
        }
        catch (Exception ex)
        {
            LogNotSaid(kind, ex);
        }
    }

    private bool IsAlone => Members.KnowsAll && Hosts.Count == 1;

    private async Task LoadKeyAsync(CancellationToken stopping)
    {
        try
        {
            while (!await _keys.TryLoadAsync(stopping))
                await Task.Delay(KeyInterval, _time, stopping);
            if (!_keys.Any)
                LogNoKey(_exchange);
        }
        catch (Exception ex)
        {
            if (!stopping.IsCancellationRequested)
                LogKeyNotRead(_exchange, ex);
        }
    }

    // Right after the start, the key and the other hosts may not be known yet.
    private async Task<bool> CanSignAsync(CancellationToken cancellationToken)
    {
        var began = _time.GetTimestamp();
        while (!_keys.Any && !Members.KnowsAll && _time.GetElapsedTime(began) < PublishDeadline)
            await Task.Delay(LookInterval, _time, cancellationToken);
        if (!_keys.Any && !Members.KnowsAll)
            throw Unavailable(inner: null);
        return _keys.Any;
    }

    private async Task<FarmAnswers<TAnswer>> AskSignedAsync<TQuestion, TAnswer>(
        TQuestion question,
        TimeSpan patience,
        CancellationToken cancellationToken
    )
        where TQuestion : class
        where TAnswer : class
    {
        if (await CanSignAsync(cancellationToken))
            return await _questions.AskAsync<TQuestion, TAnswer>(question, patience, cancellationToken);
        return IsAlone ? FarmAnswers<TAnswer>.Nobody : throw NoKey();
    }

    // Hosts of the version before sign nothing: their heartbeats count, so that no host mistakes them for gone while a farm is upgraded.
    // Nothing else is believed without a signature.
    private void Hear(FarmMessage message)
    {
        var proof = _seal.Open(message);
        if (
            proof == FarmProof.Repeated
            || (proof == FarmProof.Unproven && message.Kind is not (FarmMessage.Heartbeat or FarmMessage.Goodbye))
        )
        {
            TopicsTelemetry.CountRefusedFarmMessage();
            if (_refusals.Next() is { } silent)
                LogRefused(Clipped.Name(message.Kind), Clipped.Name(message.Host), silent);
            return;
        }

        var isProven = proof == FarmProof.Proven;
        switch (message.Kind)
        {
            case FarmMessage.Heartbeat:
                Members.Hear(new FarmHost(message.From, message.Host), FarmReceiver.ReadAll(message.Body), isProven);
                break;
            case FarmMessage.Goodbye:
                Members.Leave(message.From, isProven);
                break;
            case FarmQuestions.AnswerKind:
                _questions.Hear(new FarmHost(message.From, message.Host), message.Body);
                break;
            default:
                _commands.Add(message.From, message.Kind, message.Body);
                break;
        }
    }

    private FarmMessage Say(string kind, string body) =>
        _seal.Close(
            new FarmMessage
            {
                From = Self.Id,
                Host = Self.Name,
                Kind = kind,
                Body = body,
                Level = FarmMessage.CurrentLevel,
            }
        );

    private static EsbException NoKey() =>
        new(
            "ESB-FARM-KEY",
            "The other hosts would not believe this host, as it has no key to sign with: give all hosts of the farm the same "
                + "farm.key, or a shared store.",
            FaultKind.Invalid
        );

    private static EsbException Unavailable(Exception? inner) =>
        new("ESB-FARM-UNAVAILABLE", "The other hosts cannot be told right now: the broker is away.", FaultKind.Unavailable, inner);

    [LoggerMessage(EventId = 1531, Level = LogLevel.Debug, Message = "Joined the farm {Farm}")]
    private partial void LogJoined(string farm);

    [LoggerMessage(
        EventId = 1532,
        Level = LogLevel.Warning,
        Message = "No heartbeat of the farm {Farm} arrives, not even that of this host; joining it again"
    )]
    private partial void LogSilent(string farm);

    [LoggerMessage(EventId = 1533, Level = LogLevel.Debug, Message = "Could not join the farm {Farm}; trying again")]
    private partial void LogInterrupted(string farm, Exception exception);

    [LoggerMessage(
        EventId = 1536,
        Level = LogLevel.Warning,
        Message = "ESB-FARM-KEY: a {Kind} in the name of host {Host} was refused: no host of this farm has signed it, or it came "
            + "twice; {Silent} more since the last warning"
    )]
    private partial void LogRefused(string kind, string host, long silent);

    [LoggerMessage(
        EventId = 1537,
        Level = LogLevel.Information,
        Message = "The farm {Farm} has no key: where it has several hosts, they refuse one another's commands (farm.key)"
    )]
    private partial void LogNoKey(string farm);

    [LoggerMessage(
        EventId = 1538,
        Level = LogLevel.Error,
        Message = "The key of the farm {Farm} cannot be read from the store; commands between hosts are refused"
    )]
    private partial void LogKeyNotRead(string farm, Exception exception);

    [LoggerMessage(EventId = 1534, Level = LogLevel.Debug, Message = "The {Kind} of this host could not be sent to the farm")]
    private partial void LogNotSaid(string kind, Exception exception);
}
