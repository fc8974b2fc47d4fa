using System.Collections.Concurrent;
using System.Text.Json;
using Esb.Core.Errors;
using Esb.Core.Topics;
using Esb.Topics.Farm;
using Esb.Topics.RabbitMq.Connections;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Topics.RabbitMq.Farm;

/// <summary>Talks to the hosts of a farm without being a member: for the command line.</summary>
internal sealed class FarmVisit : IAsyncDisposable
{
    // More than two heartbeats: every live host has been heard.
    private static readonly TimeSpan Listening = TimeSpan.FromSeconds(5);

    private readonly FarmHost _self = FarmHost.OfThisProcess();
    private readonly FarmMembers _members;
    private readonly FarmCommands _commands = new(NullLogger.Instance);
    private readonly ConcurrentDictionary<Guid, FarmHost> _old = new();
    private readonly FarmQuestions _questions;
    private readonly FarmSeal _seal;
    private ControlBus? _bus;

    private FarmVisit(FarmSeal seal, TimeProvider time)
    {
        _seal = seal;
        _members = new FarmMembers(_self, time);
        _questions = new FarmQuestions(_self, _commands, SayAsync, () => Hosts, () => true, time);
    }

    /// <summary>The live hosts.</summary>
    public IReadOnlyList<FarmHost> Hosts => [.. _members.Hosts.Where(host => host.Id != _self.Id)];

    /// <summary>The live hosts of release 0.1.</summary>
    public IReadOnlyList<FarmHost> OldHosts => [.. Hosts.Where(host => _old.ContainsKey(host.Id))];

    /// <summary>Listens until all live hosts have been heard.</summary>
    /// <exception cref="EsbException"><c>ESB-FARM-KEY</c>: there are hosts, and no key to sign with.</exception>
    public static async Task<FarmVisit> BeginAsync(
        RabbitMqAddress address,
        string exchange,
        FarmKeys keys,
        TimeProvider time,
        CancellationToken cancellationToken
    )
    {
        await keys.TryLoadAsync(cancellationToken);
        var visit = new FarmVisit(new FarmSeal(keys, exchange, time), time);
        try
        {
            visit._bus = await ControlBus.StartAsync(
                address,
                exchange,
                visit._self,
                visit.Hear,
                NullLoggerFactory.Instance,
                cancellationToken
            );
            await Task.Delay(Listening, time, cancellationToken);
            if (!keys.Any && visit.Hosts.Count > 0)
                throw new EsbException(
                    "ESB-FARM-KEY",
                    "The hosts would not believe this command, as it has no key to sign with: give the configuration the hosts' farm.key.",
                    FaultKind.Invalid
                );
            return visit;
        }
        catch
        {
            await visit.DisposeAsync();
            throw;
        }
    }

    public Task<FarmAnswers<TAnswer>> AskAsync<TQuestion, TAnswer>(
        TQuestion question,
        TimeSpan patience,
        CancellationToken cancellationToken
    )
        where TQuestion : class
        where TAnswer : class => _questions.AskAsync<TQuestion, TAnswer>(question, patience, cancellationToken);

    public async ValueTask DisposeAsync()
    {
        if (_bus is not null)
            await _bus.DisposeAsync();
        await _commands.DisposeAsync();
    }

    private Task SayAsync(string kind, string body, CancellationToken cancellationToken) =>
        _bus!.PublishAsync(
            _seal.Close(
                new FarmMessage
                {
                    From = _self.Id,
                    Host = _self.Name,
                    Kind = kind,
                    Body = body,
                    Level = FarmMessage.CurrentLevel,
                }
            ),
            cancellationToken
        );

    private void Hear(FarmMessage message)
    {
        var host = new FarmHost(message.From, message.Host);
        var proof = _seal.Open(message);
        if (proof == FarmProof.Repeated)
            return;
        var isProven = proof == FarmProof.Proven;
        switch (message.Kind)
        {
            case FarmMessage.Heartbeat:
                if (message.Level < FarmMessage.CurrentLevel)
                    _old.TryAdd(host.Id, host);
                _members.Hear(host, FarmReceiver.ReadAll(message.Body), isProven);
                break;
            case FarmMessage.Goodbye:
                _members.Leave(host.Id, isProven);
                break;
            case FarmQuestions.AnswerKind when isProven:
                _questions.Hear(host, message.Body);
                break;
            default:
                break; // a visitor executes no commands
        }
    }
}
