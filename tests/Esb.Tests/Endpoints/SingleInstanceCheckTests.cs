using Esb.Configuration;
using Esb.Configuration.Settings;
using Esb.Core.Configuration;
using Esb.Core.Processes;
using Esb.Endpoints;
using Esb.Host;
using Esb.Host.Composition;
using Esb.Tests.Configuration;
using Microsoft.Extensions.DependencyInjection;
using NUnit.Framework;

namespace Esb.Tests.Endpoints;

/// <summary>Where <c>singleInstance</c> would not hold.</summary>
public sealed class SingleInstanceCheckTests : ConfigurationFixture
{
    private const string Subscriber =
        """{ "type": "file-outbound", "folder": "x", "fileName": "{message.id}", "subscribe": ["t.#"], "singleInstance": true }""";
    private const string Broker = """, "transport": { "type": "rabbitmq", "url": "amqp://b" }""";

    [Test]
    public void Subscriber_is_accepted_in_memory_and_with_a_store_that_hosts_share() =>
        Assert.Multiple(() =>
        {
            Assert.That(Check(Subscriber), Is.Empty);
            Assert.That(Check(Subscriber, Broker + """, "store": { "type": "postgres", "connection": "Host=localhost" }"""), Is.Empty);
        });

    [TestCase(Subscriber)]
    [TestCase("""{ "type": "file-inbound", "folder": "x", "publish": "t.a", "singleInstance": true }""")]
    public void Hosts_that_share_no_store_cannot_agree(string endpoint) =>
        Assert.That(
            Check(endpoint, Broker).Select(error => (error.Code, error.Path)),
            Is.EqualTo(new[] { ("ESB-CFG-STORE", "endpoints.single.singleInstance") })
        );

    [Test]
    public void Endpoint_that_is_called_runs_on_every_host_that_calls_it()
    {
        var error = Check(
                Subscriber,
                """, "processes": { "p": [{ "filter": { "header": "x" } }, { "choose": { "when": [{ "if": { "header": "x" }, "steps": [{ "call": "single" }] }] } }] }"""
            )
            .Single();

        Assert.That((error.Code, error.Path), Is.EqualTo(("ESB-CFG-SINGLE", "endpoints.single.singleInstance")));
    }

    [Test]
    public void Endpoint_that_subscribes_to_nothing_has_nothing_to_share()
    {
        var error = Check("""{ "type": "file-outbound", "folder": "x", "fileName": "{message.id}", "singleInstance": true }""").Single();

        Assert.That((error.Code, error.Expected), Is.EqualTo(("ESB-CFG-SINGLE", "hosts share what it subscribes to; expected subscribe")));
    }

    // Read as the host does, with its real steps.
    private IReadOnlyList<ConfigError> Check(string endpoint, string more = "")
    {
        var file = Write("esb.json", $$"""{ "topics": { "t": {} }, "endpoints": { "single": {{endpoint}} }{{more}} }""");
        var errors = new ConfigErrors();
        var services = new ServiceCollection().AddEsb();
        var configuration = new ConfigurationReader(SettingsCatalog.From(services)).Read(file, new Dictionary<string, string>(), errors);
        Assert.That(errors.All, Is.Empty);

        CompilePhase.Compile(services, configuration!, errors, TimeProvider.System);

        return [.. errors.All.Where(error => error.Path.EndsWith(".singleInstance", StringComparison.Ordinal))];
    }
}
