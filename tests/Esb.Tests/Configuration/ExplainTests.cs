using Esb.Configuration;

namespace Esb.Tests.Configuration;

public sealed class ExplainTests : ConfigurationFixture
{
    [Test]
    public void Each_value_is_shown_with_its_origin_and_sections_stand_apart()
    {
        var file = Write(
            "esb.json",
            """
            {
              "name": "shop",
              "topics": { "t": { "key": { "header": "x-key" } } },
              "limits": { "inFlight": 5 }
            }
            """
        );

        var lines = ConfigurationExplainer.Explain(AcceptPath(file, ("ESB__LIMITS__MAXBODYSIZE", "1MiB"))).ToList();

        Assert.That(
            lines.Take(24).Select(line => line.Replace(file, "esb.json", StringComparison.Ordinal)),
            Is.EqualTo([
                "name = \"shop\"  (esb.json:2:11)",
                "",
                "topics.t.persistent = true  (default)",
                "topics.t.key.header = \"x-key\"  (esb.json:3:41)",
                "topics.t.claimCheck = true  (default)",
                "",
                "limits.maxBodySize = \"1MiB\"  (environment variable ESB__LIMITS__MAXBODYSIZE)",
                "limits.inFlight = 5  (esb.json:4:27)",
                "limits.inFlightHigh = 200  (default)",
                "limits.inFlightLow = 100  (default)",
                "limits.memoryHigh = 80  (default)",
                "limits.memoryLow = 70  (default)",
                "limits.diskHigh = 90  (default)",
                "limits.diskLow = 85  (default)",
                "limits.drainDelay = \"2s\"  (default)",
                "limits.drainTimeout = \"25s\"  (default)",
                "limits.claimCheck = \"256KiB\"  (default)",
                "limits.xml.depth = 128  (default)",
                "limits.xml.attributes = 10000  (default)",
                "limits.xml.attributeCharacters = 1048576  (default)",
                "limits.xml.namespaces = 256  (default)",
                "limits.xml.expressionTime = \"2s\"  (default)",
                "",
                "transport.type = \"memory\"  (default)",
            ])
        );
    }

    [Test]
    public void Lists_nested_defaults_and_plain_maps_are_shown_too()
    {
        var shown = Shown(
            """
            {
              "namespaces": { "o": "urn:order" },
              "topics": { "t": {} },
              "endpoints": { "out": { "type": "file-outbound", "folder": "x", "subscribe": ["t.*", "t.a"] } },
              "processes": { "p": [{ "publish": "t" }, { "respond": { "body": { "open": [1, 2] } } }] }
            }
            """
        );

        Assert.Multiple(() =>
        {
            Assert.That(shown["namespaces.o"], Is.EqualTo("\"urn:order\""));
            Assert.That(shown["endpoints.out.type"], Is.EqualTo("\"file-outbound\""));
            Assert.That(shown["endpoints.out.subscribe"], Is.EqualTo("""["t.*","t.a"]"""));
            Assert.That(shown["endpoints.out.headers"], Is.EqualTo("""["x-*"]"""));
            Assert.That(shown["endpoints.out.retry.delays"], Is.EqualTo("""["10s","1m","5m"]"""));
            Assert.That(shown["endpoints.out.queue.type"], Is.EqualTo("\"quorum\""));
            Assert.That(shown["processes.p[0].publish"], Is.EqualTo("\"t\""));
            Assert.That(shown["processes.p[1].respond.body"], Is.EqualTo("""{"open":[1,2]}"""));
            Assert.That(shown["listeners.public.url"], Is.EqualTo("\"http://127.0.0.1:8080\""));
        });
    }

    [Test]
    public void Secrets_are_masked_and_references_shown_as_written()
    {
        var shown = Shown(
            """
            {
              "name": "${env:NAME}",
              "transport": { "type": "rabbitmq", "url": "${env:URL}" },
              "listeners": { "public": { "url": "http://a", "key": "${env:KEY}", "keys": ["${env:KEY}"] } },
              "processes": { "p": [{ "set": { "headers": { "authorization": "Bearer ${env:KEY}" } } }] },
              "endpoints": { "out": { "type": "file-outbound", "folder": "x", "poolSize": "${env:N}" } }
            }
            """,
            ("NAME", "shop"),
            ("URL", "amqp://bus:geheim@broker"),
            ("KEY", "geheim"),
            ("N", "7")
        );

        Assert.Multiple(() =>
        {
            Assert.That(shown.Values, Has.None.Contain("geheim"));
            Assert.That(shown["name"], Is.EqualTo("\"${env:NAME}\""));
            Assert.That(shown["transport.url"], Is.EqualTo("\"${env:URL}\""));
            Assert.That(shown["listeners.public.key"], Is.EqualTo("***"));
            Assert.That(shown["listeners.public.keys"], Is.EqualTo("***"));
            Assert.That(shown["processes.p[0].set.headers.authorization"], Is.EqualTo("\"Bearer ${env:KEY}\""));
            Assert.That(shown["endpoints.out.poolSize"], Is.EqualTo("7"), "a number that was understood is no secret");
        });
    }

    [TestCase("https://hooks.example/services/${env:TOKEN}", "https://hooks.example/services/${env:TOKEN}")]
    [TestCase("amqp://${env:USER}:${env:TOKEN}@broker/${env:USER}", "amqp://${env:USER}:***@broker/${env:USER}")]
    [TestCase("amqp://${env:USER}@broker", "amqp://${env:USER}@broker")]
    public void What_a_reference_brings_into_an_address_is_not_shown(string written, string expected)
    {
        var shown = Shown($$"""{ "transport": { "type": "rabbitmq", "url": "{{written}}" } }""", ("TOKEN", "T0/geheim"), ("USER", "bus"));

        Assert.That(shown["transport.url"], Is.EqualTo($"\"{expected}\""));
    }

    private Dictionary<string, string> Shown(string json, params (string Name, string Value)[] variables) =>
        Accept(json, variables).Values.ToDictionary(value => value.Path, value => value.Shown);
}
