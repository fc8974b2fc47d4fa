using Esb.Core.Configuration;
using Esb.Host;
using Esb.Host.Composition;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Workflows.Processes;

/// <summary>What configurations may say of repetitions at inbound endpoints, and where messages have a number.</summary>
public sealed class EntrySettingsTests
{
    private const string Server =
        """ "url": "sftp://a@127.0.0.1/in", "password": "x", "hostKey": "SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" """;

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
        TestCase(""" "publish": "orders.new", "transfer": "streamed" """, "endpoints.a.transfer", "expected beside process"),
        TestCase(""" "process": "keep", "transfer": "streamed", "mode": "request-reply" """, "endpoints.a.mode", "expected one-way"),
        TestCase(""" "process": "keep", "maxBodySize": "2GiB" """, "endpoints.a.maxBodySize", "1B..1GiB")
    ]
    public void Streams_that_a_process_cannot_read_are_refused(string endpoint, string path, string expected)
    {
        var error = ErrorsOf($$""" "a": { "type": "http-inbound", "path": "/a", {{endpoint}} } """).Single();

        Assert.That((error.Path, error.Expected), Is.EqualTo((path, error.Expected)));
        Assert.That(error.Expected, Does.Contain(expected));
    }

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

    private static IReadOnlyList<ConfigError> ErrorsOf(string endpoints)
    {
        var folder = Directory.CreateTempSubdirectory("esb-entry-settings-");
        try
        {
            File.WriteAllText(
                Path.Combine(folder.FullName, "esb.json"),
                $$"""
                {
                  "connections": { "db": { "provider": "npgsql", "connection": "Host=127.0.0.1" } },
                  "topics": { "orders": {} },
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
            BusServices.Compile(folder.FullName, new Dictionary<string, string>(), new ServiceCollection().AddEsb());
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
