using Esb.Core.Configuration;
using Esb.Host;
using Esb.Host.Composition;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Host.Composition;

/// <summary>What the reader finds and what the parts of the bus find is told together: each mistake in one error, none hidden by
/// another.</summary>
public sealed class OneWaveTests
{
    // One mistake for each line of the list below it, of all kinds, in one file.
    private const string Mistakes = """
        {
          "nmae": "shop",
          "transport": { "type": "rabbitmq", "url": "amqps://guest:guest@broker.example", "prefix": "a b", "tls": { "ca": "none.pem" } },
          "store": { "type": "postgres", "connection": "Database=esb", "schema": "Esb" },
          "management": { "url": "http://127.0.0.1:70000" },
          "telemetry": { "otlp": "nowhere" },
          "limits": { "maxBodySize": "4 megabytes" },
          "listeners": { "a": { "url": "http://127.0.0.1:8090" }, "b": { "url": "http://127.0.0.1:8090" } },
          "connections": { "shop": { "connection": "Host=db.example;Username=postgres;Password=postgres" }, "other": { "provider": "npgsq", "connection": "Host=localhost" } },
          "schemas": { "order": "schemas/none.xsd", "misspelt": { "fle": "x.xsd" } },
          "maps": { "broken": "broken.xsl", "missing": "maps/none.xsl" },
          "namespaces": { "xmlns": "urn:x" },
          "topics": { "orders": { "key": { "xpath": "//o:order" } }, "bills": { "persistent": "yes" } },
          "endpoints": {
            "in": { "type": "http-inbound", "path": "orders", "process": "p", "methods": ["PSOT"], "accept": ["xml"], "listener": "a" },
            "twin-1": { "type": "http-inbound", "path": "/twin", "process": "p", "listener": "a" },
            "twin-2": { "type": "http-inbound", "path": "/Twin/", "process": "p", "listener": "a" },
            "nowhere": { "type": "http-inbound", "path": "/nowhere", "process": "q", "listener": "c" },
            "relayed": { "type": "http-inbound", "path": "/relayed", "relay": "files", "listener": "a" },
            "asked": { "type": "http-inbound", "path": "/asked", "publish": "bills.asked", "mode": "request-reply", "listener": "a" },
            "half": { "type": "file-inbound", "foldr": "in", "process": "p", "relay": "files" },
            "box": { "type": "file-inbound", "folder": "in", "process": "p", "pattern": "a/*.xml", "done": "in" },
            "typo": { "type": "file-outbund", "folder": "out", "subscribe": ["orders.#"] },
            "files": { "type": "file-outbound", "folder": "out", "fileName": "../{message.id}", "procesingThreads": 2, "headers": ["esb-key"] },
            "ordered": { "type": "http-outbound", "url": "ftp://a", "method": "FETCH", "delivery": "ordered", "poolSize": 2, "timeout": "0.5s" },
            "parked": { "type": "http-outbound", "url": "http://localhost", "filter": { "xpath": "//a[" }, "onFailure": "park", "retry": { "delays": ["1x"] } },
            "sql": { "type": "sql-outbound", "connection": "shop", "query": "select @a", "execute": "insert into @t values ('{header.x}')", "parameters": { "a": { "jsonpath": "$[" } } }
          },
          "processes": {
            "p": [
              { "choose": { "when": [{ "if": { "xpaht": "/a" }, "steps": [{ "call": { "endpoint": "in", "expect": "ok" } }] }, { "if": { "xpath": "count(" }, "steps": [{ "log": "{" }] }] } },
              { "validate": { "schmea": "order" } },
              { "validate": "order" },
              { "transform": "oder" },
              { "transform": "broken" },
              { "pubish": "orders.new" },
              { "publish": "unknown.topic" },
              { "request": { "subject": "orders.asked", "timeout": "never" } },
              { "request": "bills.nobody" },
              { "set": { "headers": { "x y": "1", "esb-key": "2" } } },
              { "respond": { "status": 99, "headers": { "x\ny": "1" }, "template": "{nothing}" } },
              { "try": { "steps": [{ "run": "p" }], "catch": [{ "codes": ["ESB-XML-*"], "stps": [] }] } },
              { "filter": { "jsonpath": "$.a", "matches": "(?=x)" } },
              { "audit": { "as": "seen", "fields": { "n": { "property": "a", "header": "b" } } } },
              { "fail": { "reason": 5 } }
            ]
          },
          "policies": {}
        }
        """;

    private static readonly string[] Expected =
    [
        "ESB-CFG-UNKNOWN nmae",
        "ESB-CFG-CLEARSECRET transport.url",
        "ESB-CFG-DEFAULTCRED transport.url",
        "ESB-CFG-NAME transport.prefix",
        "ESB-CFG-CERT transport.tls.ca",
        "ESB-CFG-CONNECTION store.connection",
        "ESB-CFG-NAME store.schema",
        "ESB-CFG-PORT management.url",
        "ESB-CFG-URL telemetry.otlp",
        "ESB-CFG-SIZE limits.maxBodySize",
        "ESB-CFG-PORT listeners.b.url",
        "ESB-CFG-CLEARSECRET connections.shop.connection",
        "ESB-CFG-DEFAULTCRED connections.shop.connection",
        "ESB-CFG-INSECURE connections.shop.connection",
        "ESB-CFG-VALUE connections.other.provider",
        "ESB-CFG-NOTFOUND schemas.order",
        "ESB-CFG-UNKNOWN schemas.misspelt.fle",
        "ESB-XSL-COMPILE maps.broken",
        "ESB-CFG-NOTFOUND maps.missing",
        "ESB-CFG-NAME namespaces.xmlns",
        "ESB-XPT-NAMESPACE topics.orders.key.xpath",
        "ESB-CFG-TYPE topics.bills.persistent",
        "ESB-CFG-VALUE endpoints.in.path",
        "ESB-CFG-VALUE endpoints.in.methods",
        "ESB-CFG-VALUE endpoints.in.accept",
        "ESB-CFG-ROUTE endpoints.twin-2.path",
        "ESB-CFG-REF endpoints.nowhere.process",
        "ESB-CFG-REF endpoints.nowhere.listener",
        "ESB-CFG-VALUE endpoints.relayed.relay",
        "ESB-CFG-REQUEST endpoints.asked",
        "ESB-CFG-UNKNOWN endpoints.half.foldr",
        "ESB-CFG-ONEOF endpoints.half",
        "ESB-CFG-VALUE endpoints.half.relay",
        "ESB-CFG-VALUE endpoints.box.pattern",
        "ESB-CFG-VALUE endpoints.box.done",
        "ESB-CFG-VALUE endpoints.typo.type",
        "ESB-FILE-NAME endpoints.files.fileName",
        "ESB-CFG-UNKNOWN endpoints.files.procesingThreads",
        "ESB-CFG-HEADER endpoints.files.headers",
        "ESB-CFG-URL endpoints.ordered.url",
        "ESB-CFG-VALUE endpoints.ordered.method",
        "ESB-CFG-ORDERING endpoints.ordered.poolSize",
        "ESB-CFG-DURATION endpoints.ordered.timeout",
        "ESB-XPT-SYNTAX endpoints.parked.filter.xpath",
        "ESB-CFG-ORDERING endpoints.parked.onFailure",
        "ESB-CFG-DURATION endpoints.parked.retry.delays[0]",
        "ESB-CFG-ONEOF endpoints.sql",
        "ESB-SQL-IDENT endpoints.sql.execute",
        "ESB-SQL-DYNAMIC endpoints.sql.execute",
        "ESB-JPT-SYNTAX endpoints.sql.parameters.a.jsonpath",
        "ESB-CFG-UNKNOWN processes.p[0].choose.when[0].if.xpaht",
        "ESB-CFG-REF processes.p[0].choose.when[0].steps[0].call.endpoint",
        "ESB-CFG-VALUE processes.p[0].choose.when[0].steps[0].call.expect",
        "ESB-XPT-SYNTAX processes.p[0].choose.when[1].if.xpath",
        "ESB-EXPR-TEMPLATE processes.p[0].choose.when[1].steps[0].log",
        "ESB-CFG-UNKNOWN processes.p[1].validate.schmea",
        "ESB-CFG-REF processes.p[3].transform",
        "ESB-CFG-UNKNOWN processes.p[5].pubish",
        "ESB-CFG-REF processes.p[6].publish",
        "ESB-CFG-DURATION processes.p[7].request.timeout",
        "ESB-CFG-REQUEST processes.p[8].request",
        "ESB-CFG-HEADER processes.p[9].set.headers.x y",
        "ESB-CFG-HEADER processes.p[9].set.headers.esb-key",
        "ESB-CFG-RANGE processes.p[10].respond.status",
        "ESB-CFG-HEADER processes.p[10].respond.headers.x\uFFFDy",
        "ESB-EXPR-TEMPLATE processes.p[10].respond",
        "ESB-CFG-CYCLE processes.p",
        "ESB-CFG-UNKNOWN processes.p[11].try.catch[0].stps",
        "ESB-EXPR-REGEX processes.p[12].filter.matches",
        "ESB-CFG-ONEOF processes.p[13].audit.fields.n",
        "ESB-CFG-TYPE processes.p[14].fail.reason",
        "ESB-CFG-UNAVAILABLE policies",
    ];

    private DirectoryInfo _folder = null!;

    [SetUp]
    public void CreateFolder() => _folder = Directory.CreateTempSubdirectory("esb-");

    [TearDown]
    public void DeleteFolder() => _folder.Delete(recursive: true);

    [Test]
    public async Task Seventy_mistakes_of_all_kinds_are_all_told_at_once_and_each_once()
    {
        await File.WriteAllTextAsync(Path.Combine(_folder.FullName, "broken.xsl"), "<xsl:stylesheet");

        var errors = await RefuseAsync(Mistakes);

        Assert.That(errors.Select(error => $"{error.Code} {error.Path}"), Is.EquivalentTo(Expected), string.Join('\n', errors));
    }

    [Test]
    public async Task Mistake_in_one_endpoint_does_not_hide_those_of_others()
    {
        var errors = await RefuseAsync(
            """
            { "endpoints": {
                "a": { "type": "http-outbound", "url": "ftp://a" },
                "b": { "type": "http-outbound", "url": "http://localhost", "poolSiz": 1 },
                "c": { "type": "http-outbound", "url": "http://localhost", "method": "FETCH" } } }
            """
        );

        Assert.That(errors.Select(error => error.Path), Is.EquivalentTo(["endpoints.a.url", "endpoints.b.poolSiz", "endpoints.c.method"]));
    }

    [TestCase(
        """{ "endpoints": { "a": { "type": "file-outbund", "subscribe": ["orders.#"] } }, "topics": { "orders": {} }, "processes": { "p": [{ "request": "orders.new" }, { "call": "a" }] } }""",
        TestName = "Endpoint of an unknown type is not missing as well"
    )]
    [TestCase(
        """{ "endpoints": 5, "processes": { "p": [{ "call": "a" }] } }""",
        TestName = "Section that is no object is not empty as well"
    )]
    [TestCase(
        """{ "schemas": { "a": { "fiel": "a.xsd" } }, "processes": { "p": [{ "validate": "a" }] } }""",
        TestName = "Schema whose file is misspelt is not missing as well"
    )]
    [TestCase(
        """{ "endpoints": { "a": { "type": "http-outbound", "url": "http://localhost", "delivery": "orderd", "onFailure": "park", "poolSize": 5 } } }""",
        TestName = "Unknown delivery contradicts nothing"
    )]
    [TestCase(
        """{ "endpoints": { "a": { "type": "http-inbound", "path": "/", "publish": "orders.new", "methods": [5] } }, "topics": { "orders": {} } }""",
        TestName = "List whose only element is wrong is not empty as well"
    )]
    [TestCase(
        """{ "connections": { "c": { "connection": "Host=localhost" } }, "endpoints": { "a": { "type": "sql-outbound", "connection": "c", "query": "select @a", "parameters": { "a": 5, "b": {} } } } }""",
        TestName = "Parameter without a value is not one too many as well"
    )]
    [TestCase(
        """{ "transport": { "type": "rabitmq", "url": "amqp://localhost", "prefix": "a b" } }""",
        TestName = "Transport of an unknown type has no further errors"
    )]
    [TestCase(
        """{ "topics": { "t": { "keey": "x" } }, "endpoints": { "a": { "type": "http-outbound", "url": "http://localhost", "subscribe": ["t.#"], "delivery": "ordered-by-key" } } }""",
        TestName = "Key of a topic that is misspelt is not missing as well"
    )]
    [TestCase(
        """{ "transport": { "type": "rabbitmq", "url": "amqp://localhost" }, "store": { "type": "postgrs" }, "topics": { "t": { "key": { "header": "x-k" } } }, "endpoints": { "a": { "type": "http-outbound", "url": "http://localhost", "subscribe": ["t.#"], "delivery": "ordered-by-key" } } }""",
        TestName = "Store of an unknown type is not too small as well"
    )]
    [TestCase(
        """{ "connections": { "c": { "connection": "Host=localhost" } }, "endpoints": { "a": { "type": "sql-outbound", "connection": "c", "execute": "select 1" } }, "processes": { "p": [{ "transaction": { "conection": "c", "steps": [{ "call": "a" }] } }] } }""",
        TestName = "Transaction without its connection reaches none in vain as well"
    )]
    public async Task One_mistake_is_one_error(string json) => Assert.That(await RefuseAsync(json), Has.Count.EqualTo(1));

    private async Task<IReadOnlyList<ConfigError>> RefuseAsync(string json)
    {
        var file = Path.Combine(_folder.FullName, "esb.json");
        await File.WriteAllTextAsync(file, json);
        var refusal = Assert.Throws<ConfigurationRefusedException>(() =>
            BusServices.Build(file, new Dictionary<string, string>(), new ServiceCollection().AddEsb())
        );
        return refusal!.Errors;
    }
}
