using System.Collections.Concurrent;
using Esb.Core.Configuration;
using Esb.Core.Processes;
using Esb.Core.Topics;
using Esb.Core.Workflows;
using Esb.Tests.Fakes;
using NSubstitute;

namespace Esb.Tests.Workflows.Instances;

/// <summary>A scope in a transaction whose host ends between the commit of the database and the checkpoint.</summary>
[CancelAfter(60_000)]
public sealed class TransactionScopeTests
{
    private const string Sections = """ "connections": { "shop": { "connection": "Host=127.0.0.1;Username=shop;Database=shop" } }, """;

    private readonly ConcurrentDictionary<Guid, byte[]> _results = new();
    private readonly ConcurrentQueue<string> _committed = [];

    [SetUp]
    public void Empty()
    {
        _results.Clear();
        _committed.Clear();
    }

    [TestCase(true), TestCase(false)]
    public async Task Result_is_found_again_and_the_steps_do_not_run_a_second_time(bool diesAfter, CancellationToken cancellationToken)
    {
        await using var bench = new WorkflowBench(
            """
            { "sell": {
                "start": "orders.new",
                "steps": [
                  { "scope": { "transaction": "shop", "steps": [
                    { "set": { "variables": { "sold": "yes" }, "body": { "template": "sold" } } }, { "publish": "stock.sold" } ] } },
                  { "set": { "body": { "template": "{message.body} {variable.sold}" } } }, { "publish": "out.done" } ] } }
            """,
            Sections
        );
        bench.Transactions.BeginAsync(default!, default, default).ReturnsForAnyArgs(_ => Task.FromResult<IUnitOfWork>(new Shop(this)));
        await bench.StartAsync(cancellationToken);
        (bench.Gate.DiesAt, bench.Gate.DiesAfter) = (1, diesAfter);
        var message = WorkflowBench.Message("orders.new", "{}");
        try
        {
            await bench.SendAsync("sell", message, cancellationToken);
        }
        catch (Esb.Core.Errors.EsbException)
        {
            // The process ended; the queue delivers the message again.
        }

        await bench.KillAsync();
        await bench.StartAsync(cancellationToken);
        await bench.SendAsync("sell", message, cancellationToken);

        await bench.WaitForAsync(WorkflowState.Completed, cancellationToken);
        await Eventually.BecomesAsync(() => bench.Subjects.Contains("out.done"), cancellationToken);
        using (Assert.EnterMultipleScope())
        {
            Assert.That(_committed, Is.EqualTo(new[] { "stock.sold" }), "once, although the step ran in two processes");
            Assert.That(_results, Has.Count.EqualTo(1));
            Assert.That(bench.Published.Last().Body.ReadText(), Is.EqualTo("sold yes"), "message and variables are those of the first run");
        }
    }

    [
        TestCase("""{ "delay": "1m" }""", "ESB-WFL-PLACE"),
        TestCase("""{ "request": "orders.ask" }""", "ESB-CFG-TRANSACTION"),
        TestCase("""{ "transaction": { "connection": "shop", "steps": [{ "publish": "out.a" }] } }""", "ESB-CFG-TRANSACTION")
    ]
    public void Steps_that_no_transaction_can_hold_are_refused(string step, string code)
    {
        var bench = new WorkflowBench(
            $$"""{ "sell": { "start": "orders.new", "steps": [{ "scope": { "transaction": "shop", "steps": [{{step}}] } }] } }""",
            Sections
        );

        var refused = Assert.ThrowsAsync<ConfigurationRefusedException>(() => bench.StartAsync(CancellationToken.None))!;
        Assert.That(refused.Errors.Select(error => error.Code), Does.Contain(code));
    }

    /// <summary>A database in memory: what is in it counts from the commit on.</summary>
    private sealed class Shop(TransactionScopeTests database) : IUnitOfWork
    {
        private readonly List<OutgoingMessage> _published = [];
        private (Guid Id, byte[] Result)? _kept;

        public string Connection => "shop";

        public void Publish(OutgoingMessage message) => _published.Add(message);

        public Task<byte[]?> FindResultAsync(Guid id, CancellationToken cancellationToken) =>
            Task.FromResult(database._results.GetValueOrDefault(id));

        public Task KeepResultAsync(Guid id, byte[] result, CancellationToken cancellationToken)
        {
            _kept = (id, result);
            return Task.CompletedTask;
        }

        public Task CommitAsync(CancellationToken cancellationToken)
        {
            Assert.That(database._results.TryAdd(_kept!.Value.Id, _kept.Value.Result), Is.True);
            foreach (var message in _published)
                database._committed.Enqueue(message.Message.Subject);
            return Task.CompletedTask;
        }

        public ValueTask DisposeAsync() => ValueTask.CompletedTask;
    }
}
