using Esb.Configuration;
using Esb.Configuration.Settings;
using Esb.Core.Configuration;
using Esb.Host;
using Esb.Host.Composition;
using Esb.Tests.Configuration;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Endpoints.MassTransit;

/// <summary>Settings of MassTransit's endpoints that are refused, and those that are not.</summary>
public sealed class MassTransitSettingsTests : ConfigurationFixture
{
    private const string Rabbit = """ "transport": { "type": "rabbitmq", "url": "amqp://127.0.0.1", "prefix": "bus" },""";
    private const string Inbound = """ "type": "masstransit-inbound", "messageType": "Shop:Order", "publish": "t.a" """;
    private const string Outbound =
        """ "type": "masstransit-outbound", "messageType": ["Shop:Order", "Shop:Orders+IOrder"], "subscribe": ["t.#"] """;

    [TestCase(Inbound, Rabbit)]
    [TestCase(Outbound, Rabbit)]
    [TestCase(Inbound + """, "url": "amqp://127.0.0.1" """, "")]
    [TestCase(Outbound + """, "url": "amqps://shop:${env:PW}@broker/vh", "send": "queue:esb-orders" """, "")]
    [TestCase(Inbound + """, "entityNames": { "Shop:Order": "order" }, "maxConcurrentCalls": 1, "singleInstance": false """, Rabbit)]
    public void Endpoint_with_a_broker_is_accepted(string endpoint, string transport) => Assert.That(Check(endpoint, transport), Is.Empty);

    [TestCase(Inbound)]
    [TestCase(Outbound)]
    public void Memory_transport_has_no_broker_to_use(string endpoint) =>
        Assert.That(Check(endpoint, ""), Is.EqualTo([("ESB-CFG-BROKER", "endpoints.e.url")]));

    [TestCase(Inbound + """, "queue": "bus.topics.t" """, "ESB-CFG-NAME", "endpoints.e.queue")]
    [TestCase(Outbound + """, "send": "exchange:bus.topics.t" """, "ESB-CFG-NAME", "endpoints.e.send")]
    [TestCase(Outbound + """, "entityNames": { "Shop:Order": "bus.topics.t" } """, "ESB-CFG-NAME", "endpoints.e.entityNames")]
    [TestCase(Outbound + """, "send": "topic:x" """, "ESB-CFG-VALUE", "endpoints.e.send")]
    [TestCase(Outbound + """, "entityNames": { "Shop:Other": "x" } """, "ESB-CFG-VALUE", "endpoints.e.entityNames")]
    [TestCase(Inbound + """, "url": "http://broker" """, "ESB-CFG-URL", "endpoints.e.url")]
    [TestCase(Inbound + """, "url": "amqp://shop:${env:PW}@broker" """, "ESB-CFG-INSECURE", "endpoints.e.url")]
    [TestCase(Inbound + """, "tls": {} """, "ESB-CFG-VALUE", "endpoints.e.tls")]
    [TestCase(Inbound + """, "mode": "request-reply" """, "ESB-CFG-REQUIRED", "endpoints.e.replyType")]
    [TestCase(Inbound + """, "replyType": "Shop:Price" """, "ESB-CFG-VALUE", "endpoints.e.replyType")]
    [TestCase(Inbound + """, "prefetch": 8 """, "ESB-CFG-RANGE", "endpoints.e.prefetch")]
    [TestCase(Outbound + """, "replyType": "Shop:Price", "mandatory": false """, "ESB-CFG-VALUE", "endpoints.e.mandatory")]
    [TestCase(""" "type": "masstransit-inbound", "messageType": "Order", "publish": "t.a" """, "ESB-CFG-VALUE", "endpoints.e.messageType")]
    [TestCase(
        """ "type": "masstransit-inbound", "messageType": "Shop:Order<int>", "publish": "t.a" """,
        "ESB-CFG-VALUE",
        "endpoints.e.messageType"
    )]
    [TestCase(""" "type": "masstransit-inbound", "messageType": [], "publish": "t.a" """, "ESB-CFG-VALUE", "endpoints.e.messageType")]
    public void Setting_that_cannot_work_is_refused(string endpoint, string code, string path) =>
        Assert.That(Check(endpoint, Rabbit), Does.Contain((code, path)));

    [Test]
    public void Two_endpoints_do_not_share_a_queue() =>
        Assert.That(
            Check($$"""{{Inbound}}, "queue": "q" }, "f": { {{Inbound}}, "queue": "q" """, Rabbit),
            Is.EqualTo([("ESB-CFG-VALUE", "endpoints.f.queue")])
        );

    [Test]
    public void Event_that_comes_back_is_a_loop() =>
        Assert.That(Check($$"""{{Inbound}} }, "f": { {{Outbound}} """, Rabbit), Is.EqualTo([("ESB-CFG-LOOP", "endpoints.f")]));

    private List<(string Code, string Path)> Check(string endpoint, string transport)
    {
        var file = Write("esb.json", $$"""{ {{transport}} "topics": { "t": {} }, "endpoints": { "e": { {{endpoint}} } } }""");
        var errors = new ConfigErrors();
        var services = new ServiceCollection().AddEsb();
        var configuration = new ConfigurationReader(SettingsCatalog.From(services)).Read(
            file,
            new Dictionary<string, string> { ["PW"] = "secret" },
            errors
        );
        if (configuration is not null)
            CompilePhase.Compile(services, configuration, errors, TimeProvider.System);
        return [.. errors.All.Select(error => (error.Code, error.Path))];
    }
}
