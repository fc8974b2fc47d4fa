using System.Collections.Concurrent;
using System.Text.Json;
using Esb.Core.Errors;
using Esb.Core.Topics;
using Esb.Topics.Farm;
using Esb.Topics.RabbitMq.Connections;
using Esb.Topics.RabbitMq.Farm;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.IntegrationTests.Topics.Foreign;

/// <summary>Messages to a farm from clients that may publish to its exchange, but have no key.</summary>
public sealed class FarmForgeryTests : BrokerFixture
{
    private static readonly FarmHost Stranger = new(Guid.NewGuid(), "a stranger");

    [Test, CancelAfter(60_000)]
    public async Task A_command_that_no_host_has_signed_is_refused_and_so_is_a_copy(CancellationToken cancellationToken)
    {
        var obeyed = new ConcurrentQueue<string>();
        using var hearing = Transport.Farm.Subscribe<Order>(
            (_, order, _) =>
            {
                obeyed.Enqueue(order.Text);
                return Task.CompletedTask;
            }
        );
        await Eventually.HoldsAsync(() => Transport.Farm.Members.HearingFor > TimeSpan.Zero, cancellationToken);
        await using var bus = await JoinAsync(cancellationToken);
        var seal = new FarmSeal(TestBroker.FarmKeys, Broker.Names.Farm, TimeProvider.System);
        var signed = seal.Close(Command(Transport.Farm.Self, "signed"));

        await bus.PublishAsync(Command(Transport.Farm.Self, "forged"), cancellationToken);
        await bus.PublishAsync(signed with { Body = JsonSerializer.Serialize(new Order("changed")) }, cancellationToken);
        await bus.PublishAsync(signed, cancellationToken);
        await bus.PublishAsync(signed, cancellationToken);
        await Transport.Farm.BroadcastAsync(new Order("last"), cancellationToken);

        await Eventually.HoldsAsync(() => obeyed.Contains("last"), cancellationToken);
        Assert.That(obeyed, Is.EqualTo(new[] { "signed", "last" }));
    }

    [Test, CancelAfter(60_000)]
    public async Task A_stranger_says_no_host_goodbye_and_gets_no_share_of_the_work(CancellationToken cancellationToken)
    {
        await using var other = Broker.CreateTransport(Topics);
        await other.StartAsync(cancellationToken);
        await Eventually.HoldsAsync(() => Transport.Farm.Hosts.Count == 2, cancellationToken);
        await using var bus = await JoinAsync(cancellationToken);

        await bus.PublishAsync(Say(other.Farm.Self, FarmMessage.Goodbye, ""), cancellationToken);
        await bus.PublishAsync(
            Say(Stranger, FarmMessage.Heartbeat, JsonSerializer.Serialize(new[] { new FarmReceiver("orders-out", [], Guid.NewGuid()) })),
            cancellationToken
        );
        await Eventually.HoldsAsync(() => Transport.Farm.Hosts.Count > 2, cancellationToken);

        Assert.That(
            Transport.Farm.Hosts.Select(host => host.Id),
            Is.EquivalentTo(new[] { Transport.Farm.Self.Id, other.Farm.Self.Id, Stranger.Id })
        );
        Assert.That(Transport.Farm.Members.ReceiversOf("orders-out"), Has.Count.EqualTo(1), "of hosts of the version before, too");
        Assert.That(Transport.Farm.Members.ProvenReceiversOf("orders-out"), Is.Empty);
    }

    [Test, CancelAfter(60_000)]
    public async Task Hosts_without_a_key_refuse_to_command_one_another(CancellationToken cancellationToken)
    {
        var broker = new TestBroker();
        await using var one = broker.CreateTransport(Topics, keys: FarmKeys.None);
        await one.StartAsync(cancellationToken);
        var obeyed = new ConcurrentQueue<string>();
        using var hearing = one.Farm.Subscribe<Order>(
            (_, order, _) =>
            {
                obeyed.Enqueue(order.Text);
                return Task.CompletedTask;
            }
        );
        await Eventually.HoldsAsync(() => one.Farm.Members.KnowsAll, cancellationToken);
        await one.Farm.BroadcastAsync(new Order("alone"), cancellationToken);
        await Eventually.HoldsAsync(() => obeyed.Contains("alone"), cancellationToken);
        await using var other = broker.CreateTransport(Topics, keys: FarmKeys.None);
        await other.StartAsync(cancellationToken);
        await Eventually.HoldsAsync(() => one.Farm.Hosts.Count == 2, cancellationToken);

        var refused = Assert.ThrowsAsync<EsbException>(() => one.Farm.BroadcastAsync(new Order("together"), cancellationToken));
        var unasked = Assert.ThrowsAsync<EsbException>(() =>
            one.Farm.AskOthersAsync<Order, Order>(new Order("?"), TimeSpan.FromSeconds(1), cancellationToken)
        );

        Assert.That((refused!.Code, unasked!.Code), Is.EqualTo(("ESB-FARM-KEY", "ESB-FARM-KEY")));
        Assert.That(obeyed, Is.EqualTo(new[] { "alone" }));
        await broker.CleanUpAsync();
    }

    private Task<ControlBus> JoinAsync(CancellationToken cancellationToken) =>
        ControlBus.StartAsync(
            RabbitMqAddress.Of(
                new Esb.Topics.RabbitMq.RabbitMqTransportConfig { Url = Servers.RabbitMq, Prefix = Broker.Prefix },
                TimeProvider.System.GetUtcNow()
            ),
            Broker.Names.Farm,
            Stranger,
            _ => { },
            NullLoggerFactory.Instance,
            cancellationToken
        );

    private static FarmMessage Command(FarmHost from, string text) => Say(from, nameof(Order), JsonSerializer.Serialize(new Order(text)));

    private static FarmMessage Say(FarmHost from, string kind, string body) =>
        new()
        {
            From = from.Id,
            Host = from.Name,
            Kind = kind,
            Body = body,
            Level = FarmMessage.CurrentLevel,
        };

    private sealed record Order(string Text);
}
