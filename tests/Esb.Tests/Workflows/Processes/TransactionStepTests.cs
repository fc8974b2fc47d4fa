using Esb.Core.Errors;
using Esb.Core.Processes;
using Esb.Core.Topics;
using NSubstitute;

namespace Esb.Tests.Workflows.Processes;

[FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class TransactionStepTests : IDisposable
{
    private readonly IUnitOfWork _unitOfWork = Substitute.For<IUnitOfWork>();
    private CompiledProcesses? _processes;

    public void Dispose() => _processes?.Dispose();

    [Test, CancelAfter(30_000)]
    public async Task Calls_are_made_in_the_transaction_which_is_then_committed(CancellationToken cancellationToken)
    {
        Compile("""[{ "call": "shop-db" }, { "publish": "orders.placed" }]""");

        var context = await _processes!.RunAsync(Some.Message(), cancellationToken);

        await _processes.Caller.Received(1).CallAsync("shop-db", context.Received, _unitOfWork, Arg.Any<CancellationToken>());
        await _processes
            .Publisher.Received(1)
            .PublishAsync(context, Subject.Parse("orders.placed")!, Arg.Any<string>(), Arg.Any<CancellationToken>());
        await _unitOfWork.Received(1).CommitAsync(Arg.Any<CancellationToken>());
        await _unitOfWork.Received(1).DisposeAsync();
        Assert.That(context.UnitOfWork, Is.Null, "steps behind it are outside");
    }

    [Test, CancelAfter(30_000)]
    public async Task Failure_is_not_committed(CancellationToken cancellationToken)
    {
        Compile("""[{ "fail": { "reason": "on purpose" } }]""");

        Assert.ThrowsAsync<EsbException>(() => _processes!.RunAsync(Some.Message(), cancellationToken));

        await _unitOfWork.DidNotReceiveWithAnyArgs().CommitAsync(default);
        await _unitOfWork.Received(1).DisposeAsync();
    }

    [TestCase(false), TestCase(true), CancelAfter(30_000)]
    public async Task What_it_publishes_counts_unless_it_is_undone(bool fails, CancellationToken cancellationToken)
    {
        var fail = fails ? """, { "fail": "on purpose" }""" : "";
        _processes = new CompiledProcesses(
            $$"""{ "main": [{ "try": { "steps": [{ "transaction": { "connection": "shop", "steps": [{ "publish": "orders.placed" }{{fail}}] } }], "catch": [{ "steps": [] }] } }] }"""
        );
        _processes.Transactions.BeginAsync("shop", Arg.Any<TimeSpan>(), Arg.Any<CancellationToken>()).Returns(_unitOfWork);
        _processes
            .Publisher.PublishAsync(default!, default!, default!, default)
            .ReturnsForAnyArgs(call =>
            {
                call.Arg<MessageContext>().NotePublished(new FirstPublish("orders", ConfirmedAt: null));
                return ValueTask.CompletedTask;
            });

        var context = await _processes.RunAsync(Some.Message(), cancellationToken);

        Assert.That(context.FirstPublish is null, Is.EqualTo(fails));
    }

    [Test, CancelAfter(30_000)]
    public async Task Step_that_ends_the_process_commits(CancellationToken cancellationToken)
    {
        Compile("""[{ "respond": { "status": 200 } }]""");

        var context = await _processes!.RunAsync(Some.Message(), cancellationToken);

        Assert.That(context.Outcome, Is.EqualTo(ProcessOutcome.Responded));
        await _unitOfWork.Received(1).CommitAsync(Arg.Any<CancellationToken>());
    }

    [
        TestCase("""{ "respond": { "status": 201, "body": "stored" } }"""),
        TestCase("""{ "filter": { "header": "x-never", "exists": true } }"""),
        CancelAfter(30_000)
    ]
    public async Task End_of_the_process_in_a_transaction_that_cannot_commit_has_not_happened(
        string end,
        CancellationToken cancellationToken
    )
    {
        _processes = new CompiledProcesses(
            $$"""{ "main": [{ "try": { "steps": [{ "transaction": { "connection": "shop", "steps": [{{end}}] } }], "catch": [{ "steps": [{ "log": "not stored" }] }] } }] }"""
        );
        _processes.Transactions.BeginAsync("shop", Arg.Any<TimeSpan>(), Arg.Any<CancellationToken>()).Returns(_unitOfWork);
        _unitOfWork
            .CommitAsync(default)
            .ReturnsForAnyArgs(Task.FromException(new EsbException("ESB-SQL-UNKNOWN", "The connection was lost.", FaultKind.Unavailable)));

        var context = await _processes.RunAsync(Some.Message(), cancellationToken);

        Assert.That(
            (context.Outcome, context.Message, context.GetProperty(MessageContext.StatusProperty)),
            Is.EqualTo((ProcessOutcome.Running, context.Received, (object?)null))
        );
    }

    [Test, CancelAfter(30_000)]
    public void Step_behind_a_commit_that_failed_runs_although_the_process_had_ended(CancellationToken cancellationToken)
    {
        _processes = new CompiledProcesses(
            """{ "main": [{ "try": { "steps": [{ "transaction": { "connection": "shop", "steps": [{ "respond": { "status": 201 } }] } }], "catch": [{ "steps": [{ "log": "not stored" }, { "fail": "not stored" }] }] } }] }"""
        );
        _processes.Transactions.BeginAsync("shop", Arg.Any<TimeSpan>(), Arg.Any<CancellationToken>()).Returns(_unitOfWork);
        _unitOfWork
            .CommitAsync(default)
            .ReturnsForAnyArgs(Task.FromException(new EsbException("ESB-SQL-UNKNOWN", "The connection was lost.", FaultKind.Unavailable)));

        Assert.That(
            () => _processes.RunAsync(Some.Message(), cancellationToken),
            Throws.InstanceOf<EsbException>().With.Message.Contains("not stored")
        );
    }

    [TestCase("""{ "transaction": { "connection": "shop", "steps": [] } }""", "a transaction inside of a transaction")]
    [TestCase("""{ "try": { "steps": [{ "request": "orders.query" }] } }""", "a request inside of a transaction")]
    [TestCase("""{ "call": "other-db" }""", "'other-db' is in the database 'other'")]
    [TestCase("""{ "run": "asks" }""", "a request inside of a transaction")]
    public void Step_that_the_transaction_could_not_keep_its_promise_for_is_refused(string step, string expected)
    {
        _processes = new CompiledProcesses(Process($"[{step}]"));

        var error = _processes.Errors.All.Single();
        Assert.That((error.Code, error.Expected), Is.EqualTo(("ESB-CFG-TRANSACTION", error.Expected)));
        Assert.That(error.Expected, Does.Contain(expected));
    }

    [Test]
    public void Call_that_has_no_database_is_accepted()
    {
        Compile("""[{ "call": "backend" }]""");

        Assert.That(_processes!.Errors.All, Is.Empty);
    }

    [Test]
    public void Database_that_cannot_keep_an_outbox_is_refused()
    {
        _processes = new CompiledProcesses(Process("[]"), prepare: support => support.ObstacleOf("shop").Returns("it cannot"));

        Assert.That(
            _processes.Errors.All.Select(error => error.ToString()),
            Has.One.StartsWith("ESB-CFG-TRANSACTION processes.main[0].transaction.connection")
        );
    }

    private static string Process(string steps) =>
        $$"""{ "main": [{ "transaction": { "connection": "shop", "steps": {{steps}} } }], "asks": [{ "request": "orders.query" }] }""";

    private void Compile(string steps)
    {
        _processes = new CompiledProcesses(Process(steps));
        _processes.Transactions.BeginAsync("shop", Arg.Any<TimeSpan>(), Arg.Any<CancellationToken>()).Returns(_unitOfWork);
    }
}
