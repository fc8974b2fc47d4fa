using Esb.Core.Topics;

namespace Esb.IntegrationTests.Topics.Broker;

/// <summary>What a broker does not give yet: a plug-in, a password, a virtual host, rights. Whoever runs it adds that while we
/// wait.</summary>
[TestFixture]
public sealed class BrokerRightsTests : PrivateBrokerTests
{
    [Test, CancelAfter(120_000)]
    public async Task A_plug_in_that_is_missing_is_named_once_and_when_it_is_enabled_the_endpoint_goes_on(
        CancellationToken cancellationToken
    )
    {
        await OwnServers.ChangePluginsAsync("disable", "rabbitmq_consistent_hash_exchange");
        await Transport.StartAsync(cancellationToken);
        var (inbox, others) = (new Inbox(), new Inbox());

        await using var other = await Transport.SubscribeAsync(Subscription(), others.HandleAsync, cancellationToken);
        await using var lanes = await Transport.SubscribeAsync(
            Subscription() with
            {
                Lanes = 4,
                RetryDelays = [],
            },
            inbox.HandleAsync,
            cancellationToken
        );
        var (isLive, reason) = (lanes.IsLive, lanes.Reason);
        await ConfirmAsync(Message("before"), cancellationToken);
        await others.NextAsync(cancellationToken);
        await OwnServers.ChangePluginsAsync("enable", "rabbitmq_consistent_hash_exchange");
        await Eventually.HoldsAsync(() => lanes.IsLive, cancellationToken);
        await ConfirmAsync(Message("after"), cancellationToken);

        Assert.That((await inbox.NextAsync(cancellationToken)).Message.Body.ReadText(), Is.EqualTo("after"));
        Assert.That(isLive, Is.False);
        Assert.That(reason, Does.StartWith("ESB-CFG-PLUGIN").And.Contains("rabbitmq-plugins enable rabbitmq_consistent_hash_exchange"));
        Assert.That(Log.All.Where(line => line.Contains("ESB-CFG-PLUGIN")), Has.Exactly(1).StartsWith("Error"));
    }

    [Test, CancelAfter(120_000)]
    [Property("Case", "AMQ-14")]
    public async Task A_password_corrected_on_the_broker_needs_no_restart_here(CancellationToken cancellationToken)
    {
        await OwnServers.ControlRabbitMqAsync("add_user", "esb", "old");
        await OwnServers.ControlRabbitMqAsync("set_permissions", "esb", ".*", ".*", ".*");
        await using var transport = new TestBroker(OwnServers.RabbitMq.Replace("guest:guest", "esb:new")).CreateTransport(
            Topics,
            loggers: Log.Factory
        );
        var inbox = new Inbox();

        await transport.StartAsync(cancellationToken);
        await using var subscription = await transport.SubscribeAsync(Subscription(), inbox.HandleAsync, cancellationToken);
        var status = transport.Status;
        await OwnServers.ControlRabbitMqAsync("change_password", "esb", "new");
        await Eventually.HoldsAsync(() => subscription.IsLive && transport.Status.IsReady, cancellationToken);
        await transport.PublishAsync(Message("1"), cancellationToken);
        await inbox.NextAsync(cancellationToken);
        await OwnServers.ControlRabbitMqAsync("change_password", "esb", "newer");
        await OwnServers.ControlRabbitMqAsync("close_all_connections", "test");
        await Eventually.HoldsAsync(() => !transport.Status.IsReady && !subscription.IsLive, cancellationToken);
        await OwnServers.ControlRabbitMqAsync("change_password", "esb", "new");
        await Eventually.HoldsAsync(() => subscription.IsLive && transport.Status.IsReady, cancellationToken);

        Assert.That(status.Reason, Does.StartWith("ESB-AMQP-AUTH"));
    }

    [Test, CancelAfter(120_000)]
    [Property("Case", "AMQ-12")]
    public async Task A_virtual_host_and_rights_that_come_later_need_no_restart_here(CancellationToken cancellationToken)
    {
        await using var transport = new TestBroker($"{OwnServers.RabbitMq}/later").CreateTransport(Topics, loggers: Log.Factory);

        await transport.StartAsync(cancellationToken);
        var missing = transport.Status.Reason;
        await OwnServers.ControlRabbitMqAsync("add_vhost", "later");
        await Eventually.HoldsAsync(() => transport.Status.Reason != missing, cancellationToken);
        var forbidden = transport.Status.Reason;
        await OwnServers.ControlRabbitMqAsync("set_permissions", "--vhost", "later", "guest", ".*", ".*", ".*");
        await Eventually.HoldsAsync(() => transport.Status.IsReady, cancellationToken);

        Assert.That(missing, Does.StartWith("ESB-AMQP-TOPOLOGY").And.Contain("later"));
        Assert.That(forbidden, Does.StartWith("ESB-AMQP-TOPOLOGY").And.Contain("later"));
        Assert.That((await transport.PublishAsync(Message("1"), cancellationToken)).Outcome, Is.EqualTo(PublishOutcome.Confirmed));
    }
}
