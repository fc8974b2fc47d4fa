using Esb.Core.Configuration;
using Esb.Host;
using Esb.Host.Composition;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Workflows.Processes;

/// <summary>What configurations may say of repetitions at inbound endpoints, and where messages have a number.</summary>
public sealed class EntrySettingsTests
{
    private const string Server =
        """ "url": "sftp://a@127.0.0.1/in", "password": "${env:PASSWORD}", "hostKey": "SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" """;

    private const string Key = """ "key": { "jsonpath": "$.invoice" } """;

    [
        TestCase($$""" "type": "http-inbound", "path": "/a", "publish": "orders.new", "dedupe": { {{Key}} } """),
        TestCase($$""" "type": "file-inbound", "folder": "in", "process": "p", "dedupe": { {{Key}}, "onDuplicate": "refuse" } """),
        TestCase(
            $$""" "type": "http-inbound", "path": "/a", "process": "p", "mode": "request-reply", "dedupe": { {{Key}}, "onDuplicate": "refuse" } """
        )
    ]
    public void Endpoint_may_recognise_repetitions(string endpoint) => Assert.That(ErrorsOf($$""" "a": { {{endpoint}} } """), Is.Empty);

    [
        TestCase(
            $$""" "type": "http-inbound", "path": "/a", "process": "p", "mode": "request-reply", "dedupe": { {{Key}} } """,
            "\"onDuplicate\": \"refuse\""
        ),
        TestCase($$""" "type": "http-inbound", "path": "/a", "relay": "out", "dedupe": { {{Key}} } """, "a relay reads no message"),
        TestCase(
            """ "type": "http-inbound", "path": "/a", "process": "p", "dedupe": { "key": { "state": "x" } } """,
            "the message alone determines"
        ),
        TestCase(
            $$""" "type": "file-inbound", "folder": "in", "process": "streamed", "transfer": "streamed", "dedupe": { {{Key}} } """,
            "not in memory"
        ),
        TestCase(
            """ "type": "file-inbound", "folder": "in", "process": "streamed", "transfer": "streamed", "dedupe": { "key": { "template": "{message.body}" } } """,
            "not in memory"
        ),
        TestCase(
            $$""" "type": "sql-inbound", "connection": "db", "query": "select id from t limit 1", "after": "delete from t where id = @id", "publish": "orders.new", "dedupe": { {{Key}} } """,
            "in the commit that takes it"
        )
    ]
    public void Repetitions_that_cannot_be_recognised_are_refused(string endpoint, string expected)
    {
        var error = ErrorsOf($$""" "a": { {{endpoint}} } """).Single();

        Assert.That((error.Code, error.Path), Is.EqualTo(("ESB-CFG-VALUE", "endpoints.a.dedupe")));
        Assert.That(error.Expected, Does.Contain(expected));
    }

    [
        TestCase(""" "type": "file-inbound", "folder": "in", "process": "keep", "transfer": "streamed" """),
        TestCase(""" "type": "http-inbound", "path": "/a", "process": "keep", "transfer": "streamed", "maxBodySize": "4GiB" """),
        TestCase(""" "type": "http-inbound", "path": "/a", "process": "choose", "transfer": "streamed" """),
        TestCase(""" "type": "http-inbound", "path": "/a", "process": "call-http", "transfer": "streamed" """),
        TestCase(""" "type": "file-inbound", "folder": "in", "process": "call-sftp", "transfer": "streamed" """),
        TestCase($$""" "type": "sftp-inbound", {{Server}}, "process": "call-http", "transfer": "streamed", "maxBodySize": "4GiB" """),
        TestCase($$""" "type": "sftp-inbound", {{Server}}, "process": "streamed", "transfer": "streamed" """)
    ]
    public void Endpoint_may_stream_to_endpoints_that_take_streams(string endpoint) =>
        Assert.That(ErrorsOf($$""" "a": { {{endpoint}} } """), Is.Empty);

    [
        TestCase(""" "process": "call-query", "transfer": "streamed" """, "processes.call-query[0].call", "'call' needs the whole body"),
        TestCase(""" "process": "call-path", "transfer": "streamed" """, "processes.call-path[0].call", "'call' needs the whole body"),
        TestCase(""" "process": "call-mapped", "transfer": "streamed" """, "processes.call-mapped[0].call", "'call' needs the whole body"),
        TestCase(""" "process": "streamed", "transfer": "streamed" """, "processes.streamed[0].split", "comes once"),
        TestCase(""" "process": "log-body", "transfer": "streamed" """, "processes.log-body[0].log", "'log' needs the whole body"),
        TestCase(""" "process": "filter-body", "transfer": "streamed" """, "processes.filter-body[0].filter", "the body is not in memory"),
        TestCase(""" "process": "twice", "transfer": "streamed" """, "endpoints.a.transfer", "comes once"),
        TestCase(""" "publish": "orders.new", "transfer": "streamed" """, "endpoints.a.transfer", "over RabbitMQ only"),
        TestCase(""" "process": "p", "transfer": "streamed" """, "processes.p[0].publish", "over RabbitMQ only"),
        TestCase(""" "relay": "out", "transfer": "streamed" """, "endpoints.a.transfer", "expected beside process or publish"),
        TestCase(""" "process": "keep", "transfer": "streamed", "mode": "request-reply" """, "endpoints.a.mode", "expected one-way"),
        TestCase(""" "process": "keep", "maxBodySize": "2GiB" """, "endpoints.a.maxBodySize", "1B..1GiB")
    ]
    public void Streams_that_a_process_cannot_read_are_refused(string endpoint, string path, string expected)
    {
        var error = ErrorsOf($$""" "a": { "type": "http-inbound", "path": "/a", {{endpoint}} } """).Single();

        Assert.That((error.Path, error.Expected), Is.EqualTo((path, error.Expected)));
        Assert.That(error.Expected, Does.Contain(expected));
    }

    private const string Broker = """ "transport": { "type": "rabbitmq", "url": "amqp://127.0.0.1" }, """;

    [TestCase("\"claims\": \"claims\"", "orders.new", null)]
    [TestCase("\"schema\": \"a\"", "orders.new", "store.claims")]
    [TestCase(
        "\"claims\": \"claims\", \"encryptionKeys\": [{ \"id\": \"a\", \"key\": \"${env:KEY}\" }]",
        "orders.new",
        "are not encrypted"
    )]
    [TestCase("\"claims\": \"claims\"", "keyed.new", "the key of topic keyed")]
    [TestCase("\"claims\": \"claims\"", "whole.new", "travel whole")]
    [TestCase("\"claims\": \"claims\"", "checked.new", "the schema of topic checked")]
    public void Streams_are_published_where_all_hosts_reach_them(string store, string subject, string? expected)
    {
        var errors = ErrorsOf(
            $$""" "a": { "type": "http-inbound", "path": "/a", "publish": "{{subject}}", "transfer": "streamed" } """,
            $$""" {{Broker}} "store": { "type": "postgres", "connection": "Host=127.0.0.1", {{store}} }, """
        );

        Assert.That(
            errors.Select(error => error.Path),
            Is.EqualTo(expected is null ? Array.Empty<string>() : new[] { "endpoints.a.transfer" })
        );
        Assert.That(errors.Select(error => error.Expected), Has.All.Contain(expected ?? ""));
    }

    [Test]
    public void Body_that_comes_once_is_published_once() =>
        Assert.That(
            ErrorsOf(
                    """ "a": { "type": "http-inbound", "path": "/a", "process": "publish-and-call", "transfer": "streamed" } """,
                    $$""" {{Broker}} "store": { "type": "postgres", "connection": "Host=127.0.0.1", "claims": "claims" }, """
                )
                .Select(error => (error.Path, error.Expected.Contains("comes once", StringComparison.Ordinal))),
            Is.EqualTo(new[] { ("endpoints.a.transfer", true) })
        );

    [TestCase(""" "type": "file-outbound", "folder": "numbered", "fileName": "{sequence:0000}.txt" """)]
    [TestCase(""" "type": "http-outbound", "url": "http://127.0.0.1:1/", "path": "/{sequence}" """)]
    public void Endpoint_that_sends_numbers_its_messages(string endpoint) =>
        Assert.That(ErrorsOf($$""" "a": { {{endpoint}} } """), Is.Empty);

    [
        TestCase(
            """ "type": "http-inbound", "path": "/a", "process": "p", "dedupe": { "key": { "template": "{sequence}" } } """,
            "endpoints.a.dedupe.key"
        ),
        TestCase(
            """ "type": "file-outbound", "folder": "out", "fileName": "a", "subscribe": ["orders.#"], "filter": { "template": "{sequence}", "equals": "1" } """,
            "endpoints.a.filter.template"
        )
    ]
    public void Number_is_refused_where_a_message_has_none(string endpoint, string path) =>
        Assert.That(
            ErrorsOf($$""" "a": { {{endpoint}} } """).Select(error => (error.Code, error.Path)),
            Is.EqualTo(new[] { ("ESB-EXPR-TEMPLATE", path) })
        );

    private static IReadOnlyList<ConfigError> ErrorsOf(string endpoints, string sections = "")
    {
        var folder = Directory.CreateTempSubdirectory("esb-entry-settings-");
        try
        {
            File.WriteAllText(Path.Combine(folder.FullName, "any.schema.json"), "true");
            File.WriteAllText(
                Path.Combine(folder.FullName, "esb.json"),
                $$"""
                {
                  {{sections}}
                  "schemas": { "any": "any.schema.json" },
                  "connections": { "db": { "provider": "npgsql", "connection": "Host=127.0.0.1" } },
                  "topics": { "orders": {}, "keyed": { "key": { "jsonpath": "$.id" } }, "whole": { "claimCheck": false }, "checked": { "schema": "any" } },
                  "endpoints": { "kept": { "type": "file-outbound", "folder": "kept", "fileName": "{message.id}" }, "out": { "type": "http-outbound", "url": "http://127.0.0.1:1/" }, "query": { "type": "http-outbound", "url": "http://127.0.0.1:1/", "query": { "a": { "jsonpath": "$.a" } } }, "mapped": { "type": "http-outbound", "url": "http://127.0.0.1:1/", "process": "preparing" }, "partner": { "type": "sftp-outbound", {{Server}}, "fileName": "{message.id}" }, {{endpoints}} },
                  "processes": {
                    "p": [{ "publish": "orders.new" }],
                    "keep": [{ "call": "kept" }],
                    "log-body": [{ "log": "got {message.body}" }, { "call": "kept" }],
                    "filter-body": [{ "filter": { "template": "{message.body}", "equals": "x" } }, { "call": "kept" }],
                    "twice": [{ "call": "kept" }, { "call": "kept" }],
                    "choose": [
                      { "choose": { "when": [{ "if": { "header": "x-a" }, "steps": [{ "call": "kept" }] }], "otherwise": [{ "call": "kept" }] } }
                    ],
                    "call-http": [{ "call": "out" }],
                    "publish-and-call": [{ "publish": "orders.new" }, { "call": "kept" }],
                    "call-sftp": [{ "call": "partner" }],
                    "call-query": [{ "call": "query" }],
                    "call-path": [{ "call": { "endpoint": "out", "path": "/{message.body}" } }],
                    "call-mapped": [{ "call": "mapped" }],
                    "preparing": [{ "set": { "headers": { "x-a": "b" } } }],
                    "streamed": [{ "split": { "xpath": "/a/b", "steps": [{ "publish": "orders.new" }] } }]
                  }
                }
                """
            );
            BusServices.Compile(
                folder.FullName,
                new Dictionary<string, string> { ["PASSWORD"] = "x", ["KEY"] = Convert.ToBase64String(new byte[32]) },
                new ServiceCollection().AddEsb()
            );
            return [];
        }
        catch (ConfigurationRefusedException ex)
        {
            return ex.Errors;
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }
}
