using System.Net.Security;
using System.Security.Authentication;
using Esb.Core;
using Esb.Core.Topics;
using Esb.Topics.Memory;
using Esb.Topics.RabbitMq;
using Esb.Topics.RabbitMq.Connections;
using Esb.Topics.RabbitMq.Tls;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Topics;

public sealed class TransportSettingsTests : TopicsFixture
{
    [TestCase("{}", typeof(MemoryTransport))]
    [TestCase("""{ "transport": { "type": "memory" } }""", typeof(MemoryTransport))]
    [TestCase("""{ "transport": { "type": "rabbitmq", "url": "amqp://localhost" } }""", typeof(RabbitMqTransport))]
    public void The_configuration_decides_which_transport_is_used(string json, Type expected)
    {
        var provider = Compose(json, scripted: false);

        Assert.That(provider.GetRequiredService<ITopicTransport>(), Is.TypeOf(expected));
        Assert.That(provider.GetServices<IBusPart>().Select(part => part.Stage), Does.Contain(BusStage.Topics));
        Assert.That(provider.GetServices<IHealthCheck>().Select(check => check.Name), Does.Contain("topics"));
    }

    [TestCase("${env:URL}")]
    [TestCase("amqps://broker.example")]
    [TestCase("amqps://localhost,broker.example")]
    [Property("Case", "CFG-27")]
    public void Default_credentials_are_refused_for_another_machine(string url)
    {
        var error = Check($$"""{ "transport": { "type": "rabbitmq", "url": "{{url}}" } }""").Single();

        Assert.That((error.Code, error.Path, error.Value), Is.EqualTo(("ESB-CFG-DEFAULTCRED", "transport.url", (string?)null)));
    }

    [TestCase("amqp://localhost")]
    [TestCase("amqp://127.0.0.1:5673")]
    [TestCase("amqp://[::1]/esb")]
    [TestCase("amqp://localhost:5672,127.0.0.1:5673,[::1]:5674/esb")]
    [TestCase("amqps://esb@broker.example/%2Fesb")]
    public void An_address_that_may_be_used_is_accepted(string url) =>
        Assert.That(Check($$"""{ "transport": { "type": "rabbitmq", "url": "{{url}}" } }"""), Is.Empty);

    [TestCase("http://broker")]
    [TestCase("broker:5672")]
    [TestCase("")]
    [TestCase("amqp://esb@broker?heartbeat=5")]
    [TestCase("amqp://esb@one,/esb")]
    [TestCase("amqp://esb@one,two:port")]
    [TestCase("amqp://esb@one,amqp://esb@two")]
    public void What_is_no_address_of_a_broker_is_refused(string url) =>
        Assert.That(
            Check($$"""{ "transport": { "type": "rabbitmq", "url": "{{url}}" } }""").Select(error => error.Code),
            Is.EqualTo(new[] { "ESB-CFG-URL" })
        );

    [TestCase("")]
    [TestCase("with space")]
    [TestCase("a/b")]
    public void A_prefix_that_the_broker_would_not_take_is_refused(string prefix)
    {
        var errors = Check($$"""{ "transport": { "type": "rabbitmq", "url": "amqp://localhost", "prefix": "{{prefix}}" } }""");

        Assert.That(errors.Select(error => (error.Code, error.Path)), Is.EqualTo(new[] { ("ESB-CFG-NAME", "transport.prefix") }));
    }

    [Test]
    public void An_error_in_a_key_is_an_error_of_the_configuration() =>
        Assert.That(
            Check("""{ "topics": { "orders": { "key": { "xpath": "///" } } } }""").Single().Path,
            Does.StartWith("topics.orders.key")
        );

    [Test]
    public void An_address_is_read_as_its_specification_says()
    {
        var address = RabbitMqAddress.Parse("amqps://us%40er:p%2Fw@broker.example:1234/v%2Fhost");

        Assert.That(address!.Nodes, Is.EqualTo(new[] { new BrokerNode("broker.example", 1234) }));
        Assert.That((address.VirtualHost, address.User, address.Password, address.IsTls), Is.EqualTo(("v/host", "us@er", "p/w", true)));
    }

    [Test]
    public void The_nodes_of_a_cluster_stand_side_by_side_in_one_address()
    {
        var address = RabbitMqAddress.Parse("amqps://esb:a,b@one,two:1234,[::1]:2345,one/v%2Fhost");

        Assert.That(
            address!.Nodes,
            Is.EqualTo(new[] { new BrokerNode("one", 5671), new BrokerNode("two", 1234), new BrokerNode("::1", 2345) })
        );
        Assert.That((address.VirtualHost, address.User, address.Password, address.IsTls), Is.EqualTo(("v/host", "esb", "a,b", true)));
    }

    [Test]
    public void Each_attempt_to_connect_begins_with_another_node_and_may_go_on_to_all()
    {
        var nodes = RabbitMqAddress.Parse("amqps://esb@one,two,three")!.ToRotation();

        var attempts = Enumerable.Range(0, 3).Select(_ => nodes.All().ToList()).ToList();

        Assert.That(attempts.Select(attempt => attempt[0].HostName), Is.EquivalentTo(new[] { "one", "two", "three" }));
        foreach (var attempt in attempts)
        {
            Assert.That(attempt.Select(node => node.HostName), Is.EquivalentTo(new[] { "one", "two", "three" }));
            Assert.That(attempt.Select(node => node.Ssl.Enabled), Is.All.False, "the sockets make TLS themselves");
        }
    }

    [Test]
    [Property("Case", "AMQ-15")]
    public void Certificates_are_verified_in_full()
    {
        var options = BrokerTls.OfSystem.ToOptions("broker.example");

        Assert.That(options.TargetHost, Is.EqualTo("broker.example"));
        Assert.That(
            () => options.RemoteCertificateValidationCallback!(this, null, null, SslPolicyErrors.RemoteCertificateNotAvailable),
            Throws.TypeOf<AuthenticationException>()
        );
    }
}
