using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Esb.Tests.Fakes;
using Esb.Tests.Workflows.Processes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using NSubstitute;

namespace Esb.Tests.Content;

[CancelAfter(30_000), FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class SqlLookupTests : IDisposable
{
    private readonly ILookupQueries _queries = Substitute.For<ILookupQueries>();
    private CompiledProcesses? _processes;

    public SqlLookupTests() =>
        _queries
            .FindAsync(default!, default!, default!, default!, default, default)
            .ReturnsForAnyArgs(call =>
                call.ArgAt<string>(3) == "none"
                    ? null
                    : new Dictionary<string, string> { ["label"] = $"label of {call.ArgAt<string>(3)}", ["size"] = "9" }
            );

    public void Dispose() => _processes?.Dispose();

    [Test]
    public async Task Entry_is_read_before_the_step_and_kept(CancellationToken cancellationToken)
    {
        Compile(
            "\"cache\": \"5m\"",
            """[{ "set": { "properties": { "label": { "lookup": "sizes", "key": { "header": "x-code" }, "column": "label", "otherwise": "no label" } } } }, { "filter": { "lookup": "sizes", "key": { "header": "x-code" }, "column": "size", "greaterThan": 5 } }]"""
        );

        MessageContext[] contexts =
        [
            await RunAsync("a", cancellationToken),
            await RunAsync("a", cancellationToken),
            await RunAsync("none", cancellationToken),
            await RunAsync("none", cancellationToken),
        ];

        Assert.That(
            contexts.Select(context => (context.GetProperty("label"), context.Outcome)),
            Is.EqualTo(
                new (object?, ProcessOutcome)[]
                {
                    ("label of a", ProcessOutcome.Running),
                    ("label of a", ProcessOutcome.Running),
                    ("no label", ProcessOutcome.Filtered),
                    ("no label", ProcessOutcome.Filtered),
                }
            )
        );
        Assert.That(_queries.ReceivedCalls().Count(), Is.EqualTo(2), "once for each key");
    }

    [Test]
    public async Task Each_message_asks_where_nothing_is_kept(CancellationToken cancellationToken)
    {
        Compile(
            "\"timeout\": \"3s\"",
            """[{ "set": { "properties": { "label": { "lookup": "sizes", "key": { "header": "x-code" }, "column": "label" } } } }]"""
        );

        await RunAsync("a", cancellationToken);
        await RunAsync("a", cancellationToken);

        await _queries
            .Received(2)
            .FindAsync(
                "sizes",
                "shop",
                "select label, size from sizes where code = @key",
                "a",
                TimeSpan.FromSeconds(3),
                Arg.Any<CancellationToken>()
            );
    }

    [Test]
    public void Database_that_is_away_fails_the_message(CancellationToken cancellationToken)
    {
        Compile(
            "\"cache\": \"5m\"",
            """[{ "set": { "properties": { "label": { "lookup": "sizes", "key": "a", "column": "label" } } } }]"""
        );
        _queries
            .FindAsync(default!, default!, default!, default!, default, default)
            .ReturnsForAnyArgs<Task<IReadOnlyDictionary<string, string>?>>(_ =>
                throw new EsbException("ESB-SQL-CONNECTION", "away", FaultKind.Unavailable)
            );

        Assert.That(Assert.ThrowsAsync<EsbException>(() => RunAsync("a", cancellationToken))!.Code, Is.EqualTo("ESB-SQL-CONNECTION"));
    }

    [TestCase(
        "map.js",
        """export default (input, context) => input.codes.map(code => context.lookup("sizes", code)?.label ?? "no " + code)""",
        """["label of a","label of b","no none","label of a"]"""
    )]
    [TestCase(
        "map.liquid",
        """{% for code in input.codes %}{{ code | lookup: "sizes", "label" | default: "none" }};{% endfor %}""",
        "label of a;label of b;none;label of a;"
    )]
    public async Task Map_asks_for_each_key_that_it_names_once(
        string file,
        string map,
        string expected,
        CancellationToken cancellationToken
    )
    {
        Compile("\"cache\": \"5m\"", """[{ "transform": "map" }]""", (file, map));
        var message = Some.Message("""{ "codes": ["a", "b", "none", "a"] }""");

        var first = await _processes!.RunAsync(message, cancellationToken);
        var second = await _processes!.RunAsync(message, cancellationToken);

        Assert.That(new[] { first, second }.Select(context => context.Message.Body.ReadText()), Is.EqualTo(new[] { expected, expected }));
        Assert.That(KeysAsked(), Is.EqualTo(new[] { "a", "b", "none" }));
    }

    [Test]
    public async Task Each_run_of_a_map_asks_where_nothing_is_kept_and_sees_one_entry_throughout(CancellationToken cancellationToken)
    {
        Compile(
            "\"timeout\": \"3s\"",
            """[{ "script": "map" }]""",
            (
                "map.js",
                """
                export default (input, context) => {
                  const first = context.lookup("sizes", "a").label;
                  return { properties: { label: context.lookup("sizes", first).label + "|" + context.lookup("sizes", "a").label } };
                }
                """
            )
        );

        var label = (await RunAsync("a", cancellationToken)).GetProperty("label");
        await RunAsync("a", cancellationToken);

        Assert.That(label, Is.EqualTo("label of label of a|label of a"), "the second key is known only behind the first entry");
        Assert.That(KeysAsked().Count(key => key == "a"), Is.EqualTo(2), "once for each message");
    }

    [Test]
    public async Task Only_the_run_that_has_its_entries_fails_or_logs(CancellationToken cancellationToken)
    {
        using var log = new LogLines();
        Compile(
            "\"cache\": \"5m\"",
            """[{ "transform": "map" }]""",
            log,
            (
                "map.js",
                """
                export default (input, context) => {
                  const found = context.lookup("sizes", input.code);
                  context.log("found " + found?.label);
                  if (found && found.label !== "label of " + input.code) context.fail("another label: " + found.label);
                  if (!found) context.fail("no such size");
                  return found;
                }
                """
            )
        );

        var made = await _processes!.RunAsync(Some.Message("""{ "code": "a" }"""), cancellationToken);
        var refused = Assert.ThrowsAsync<EsbException>(() =>
            _processes.RunAsync(Some.Message("""{ "code": "none" }"""), cancellationToken)
        )!;

        Assert.That(made.Message.Body.ReadText(), Is.EqualTo("""{"label":"label of a","size":"9"}"""));
        Assert.That((refused.Code, refused.Message), Is.EqualTo(("ESB-PROC-REFUSED", "no such size")));
        Assert.That(
            log.All.Select(line => line.Text.Trim()).Where(line => line.StartsWith("map map:", StringComparison.Ordinal)),
            Is.EqualTo(new[] { "map map: found label of a", "map map: found undefined" })
        );
    }

    [Test]
    public void Map_whose_database_is_away_fails_the_message(CancellationToken cancellationToken)
    {
        Compile(
            "\"cache\": \"5m\"",
            """[{ "transform": "map" }]""",
            ("map.js", """export default (input, context) => context.lookup("sizes", "a")""")
        );
        _queries
            .FindAsync(default!, default!, default!, default!, default, default)
            .ReturnsForAnyArgs<Task<IReadOnlyDictionary<string, string>?>>(_ =>
                throw new EsbException("ESB-SQL-CONNECTION", "away", FaultKind.Unavailable)
            );

        Assert.That(Assert.ThrowsAsync<EsbException>(() => RunAsync("a", cancellationToken))!.Code, Is.EqualTo("ESB-SQL-CONNECTION"));
    }

    [Test]
    public void Map_that_never_ends_to_ask_is_ended(CancellationToken cancellationToken)
    {
        Compile(
            "\"cache\": \"5m\"",
            """[{ "transform": "map" }]""",
            (
                "map.js",
                """export default (input, context) => { for (let key = "a"; ; key = context.lookup("sizes", key).label) if (key === undefined) return 1; }"""
            )
        );

        Assert.That(Assert.ThrowsAsync<EsbException>(() => RunAsync("a", cancellationToken))!.Code, Is.EqualTo("ESB-LOOKUP-LIMIT"));
    }

    private IEnumerable<string> KeysAsked() => _queries.ReceivedCalls().Select(call => (string)call.GetArguments()[3]!);

    private void Compile(string settings, string main, params (string, string)[] maps) => Compile(settings, main, log: null, maps);

    private void Compile(string settings, string main, ILoggerProvider? log, params (string, string)[] maps) =>
        _processes = new CompiledProcesses(
            $$"""{ "main": {{main}} }""",
            register: services =>
            {
                services.AddSingleton(_queries);
                if (log is not null)
                    services.AddLogging(logging => logging.AddProvider(log));
            },
            sections: $$""" "lookups": { "sizes": { "connection": "shop", "query": "select label, size from sizes where code = @key", {{settings}} } }, """,
            maps: maps
        );

    private Task<MessageContext> RunAsync(string code, CancellationToken cancellationToken) =>
        _processes!.RunAsync(Some.Message("{}") with { Headers = MessageHeaders.From([new("x-code", code)]) }, cancellationToken);
}
