using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Esb.Tests.Workflows.Processes;
using Microsoft.Extensions.DependencyInjection;
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

    [Test]
    public void Map_cannot_ask_a_database(CancellationToken cancellationToken)
    {
        Compile(
            "\"cache\": \"5m\"",
            """[{ "transform": "script" }]""",
            ("script.js", """export default (input, context) => context.lookup("sizes", "a").label""")
        );

        Assert.That(Assert.ThrowsAsync<EsbException>(() => RunAsync("a", cancellationToken))!.Code, Is.EqualTo("ESB-LOOKUP-DATABASE"));
    }

    private void Compile(string settings, string main, params (string, string)[] maps) =>
        _processes = new CompiledProcesses(
            $$"""{ "main": {{main}} }""",
            register: services => services.AddSingleton(_queries),
            sections: $$""" "lookups": { "sizes": { "connection": "shop", "query": "select label, size from sizes where code = @key", {{settings}} } }, """,
            maps: maps
        );

    private Task<MessageContext> RunAsync(string code, CancellationToken cancellationToken) =>
        _processes!.RunAsync(Some.Message("{}") with { Headers = MessageHeaders.From([new("x-code", code)]) }, cancellationToken);
}
