using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Replays;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Delivery.Replay;
using Esb.Tests.Fakes;
using Microsoft.Extensions.Logging;
using NSubstitute;

namespace Esb.Tests.Delivery.Replay;

[CancelAfter(30_000)]
public sealed class ParkingDeskTests
{
    private static readonly DateTimeOffset Now = new(2026, 3, 1, 12, 0, 0, TimeSpan.Zero);
    private static readonly OperatorDecision Decision = new("ada", "paid by hand");

    private readonly Guid _standsAt = Guid.NewGuid();
    private IParkingStore _parking = null!;
    private IEndpointControl _control = null!;
    private IFarm _farm = null!;
    private AuditLog _audit = null!;
    private LogLines _log = null!;
    private ParkingDesk _desk = null!;

    [SetUp]
    public void Make()
    {
        _parking = Substitute.For<IParkingStore>();
        _control = Substitute.For<IEndpointControl>();
        _audit = new AuditLog();
        _log = new LogLines();
        var monitor = Substitute.For<IEndpointMonitor>();
        monitor.Endpoints.Returns([
            new EndpointStatus
            {
                Name = "shop",
                Type = "http-outbound",
                State = EndpointState.Running,
            },
            new EndpointStatus
            {
                Name = "ledger",
                Type = "sql-outbound",
                State = EndpointState.Stopped,
                StandsAt = new EndpointStandstill(_standsAt, Now, new FailedAttempt(Now, "ESB-X", "no")),
            },
        ]);
        var loggers = LoggerFactory.Create(logging => logging.AddProvider(_log));
        _farm = Substitute.For<IFarm>();
        _farm
            .AskOthersAsync<ListStandstills, StandstillList>(default!, default, default)
            .ReturnsForAnyArgs(FarmAnswers<StandstillList>.Nobody);
        _farm.AskOthersAsync<MoveOnStandstill, MovedOn>(default!, default, default).ReturnsForAnyArgs(FarmAnswers<MovedOn>.Nobody);
        var standstills = new Standstills(_farm, [monitor], _control, loggers.CreateLogger<Standstills>());
        _desk = new ParkingDesk(_parking, standstills, _audit, TimeProvider.System, loggers.CreateLogger<ParkingDesk>());
    }

    [TearDown]
    public void Dispose() => _log.Dispose();

    [Test]
    public async Task Keys_and_endpoints_that_stand_still_are_one_list(CancellationToken cancellationToken)
    {
        _parking
            .ListAsync(null, null, 9, Arg.Any<CancellationToken>())
            .Returns([
                new ParkedKey("shop", "c-1", 3, Now.AddMinutes(-1), null, null),
                new ParkedKey("shop", "c-2", 1, Now.AddMinutes(1), Now.AddMinutes(2), null),
            ]);

        var lines = await _desk.ListAsync(null, null, 10, cancellationToken);

        Assert.That(
            lines.Select(line => (line.Endpoint, line.Key, line.Count)),
            Is.EqualTo([("ledger", (string?)null, 1), ("shop", "c-1", 3), ("shop", "c-2", 1)])
        );
        Assert.That(
            (await _desk.MessagesAsync("ledger", null, 0, 10, cancellationToken)).Select(message => (message.Id, message.Failures[0].Code)),
            Is.EqualTo([(_standsAt, "ESB-X")])
        );
        Assert.That(await _desk.MessagesAsync("shop", null, 0, 10, cancellationToken), Is.Empty);
    }

    [Test]
    public async Task Pages_go_on_behind_the_endpoint_or_the_key_where_the_last_one_ended(CancellationToken cancellationToken)
    {
        var key = new ParkedKey("shop", "c-1", 3, Now.AddMinutes(-1), null, null);
        var behind = new ParkedKey("shop", "c-2", 1, Now.AddMinutes(1), null, null);
        _parking.ListAsync(null, null, 1, Arg.Any<CancellationToken>()).Returns([key]);
        _parking.ListAsync(null, new ParkedPosition(key.Since, "shop", "c-1"), 1, Arg.Any<CancellationToken>()).Returns([behind]);

        var seen = new List<(string, string?)>();
        WaitingPosition? after = null;
        for (var page = 0; page < 3; page++)
        {
            var line = (await _desk.ListAsync(null, after, 1, cancellationToken)).Single();
            seen.Add((line.Endpoint, line.Key));
            after = new WaitingPosition(line.Since, line.Endpoint, line.Key);
        }

        Assert.That(seen, Is.EqualTo([("ledger", null), ("shop", "c-1"), ("shop", (string?)"c-2")]));
    }

    [Test]
    public async Task Release_reaches_the_store_or_the_endpoint_and_is_logged(CancellationToken cancellationToken)
    {
        _parking.ReleaseAsync("shop", "c-1", Arg.Any<CancellationToken>()).Returns(true);
        _control.MoveOnAsync("ledger", _standsAt, false, Decision, Arg.Any<CancellationToken>()).Returns(true);

        Assert.That(await _desk.ReleaseAsync("shop", "c-1", Decision, cancellationToken), Is.True);
        Assert.That(await _desk.ReleaseAsync("ledger", null, Decision, cancellationToken), Is.True);
        Assert.That(await _desk.ReleaseAsync("shop", "c-9", Decision, cancellationToken), Is.False);
        Assert.That(await _desk.ReleaseAsync("shop", null, Decision, cancellationToken), Is.False);
        Assert.That(_log.All.Count(line => line.Text.Contains("ada") && line.Text.Contains("paid by hand")), Is.EqualTo(2));
    }

    [Test]
    public async Task Discarded_messages_are_recorded_with_who_and_why(CancellationToken cancellationToken)
    {
        var message = Some.Message(subject: "orders.new", key: "c-1");
        ParkLine(message);

        Assert.That(await _desk.DiscardAsync("shop", "c-1", null, Decision, cancellationToken), Is.EqualTo(1));

        var fact = _audit.Facts.Single();
        Assert.That(
            (fact.Kind, fact.MessageId, fact.Endpoint, fact.Reason, fact.Fields["operator"]),
            Is.EqualTo((AuditKind.Discarded, message.Id, "shop", "paid by hand", "ada"))
        );
    }

    [Test]
    public async Task Only_the_message_that_is_meant_leaves_its_line(CancellationToken cancellationToken)
    {
        var (meant, other) = (Some.Message(key: "c-1"), Some.Message(key: "c-1"));
        var line = ParkLine(other, meant);

        Assert.That(await _desk.DiscardAsync("shop", "c-1", meant.Id, Decision, cancellationToken), Is.EqualTo(1));
        Assert.That(await _desk.DiscardAsync("shop", "c-1", Guid.NewGuid(), Decision, cancellationToken), Is.Zero);

        Assert.That(line.Select(parked => parked.MessageId), Is.EqualTo([other.Id]));
        Assert.That(_audit.Facts.Select(fact => fact.MessageId), Is.EqualTo([meant.Id]));
    }

    [Test]
    public async Task Long_line_is_discarded_in_groups_each_of_them_recorded_before_it_is_gone(CancellationToken cancellationToken)
    {
        var messages = Enumerable.Range(0, 250).Select(_ => Some.Message(key: "c-1")).ToArray();
        var recordedBefore = new List<(int Gone, int Facts)>();
        var line = ParkLine(messages);
        _parking
            .When(parking => parking.DiscardAsync("shop", "c-1", Arg.Any<IReadOnlyCollection<Guid>>(), Arg.Any<CancellationToken>()))
            .Do(call => recordedBefore.Add((call.Arg<IReadOnlyCollection<Guid>>().Count, _audit.Facts.Count)));

        var count = await _desk.DiscardAsync("shop", "c-1", null, Decision, cancellationToken);

        Assert.That((count, line.Count), Is.EqualTo((250L, 0)));
        Assert.That(_audit.Facts.Select(fact => fact.MessageId), Is.EquivalentTo(messages.Select(message => message.Id)));
        Assert.That(recordedBefore, Is.EqualTo([(100, 100), (100, 200), (50, 250)]));
    }

    [Test]
    public void What_cannot_be_recorded_stays_in_its_line(CancellationToken cancellationToken)
    {
        var messages = Enumerable.Range(0, 250).Select(_ => Some.Message(key: "c-1")).ToArray();
        var full = new EsbException("ESB-AUD-WRITE", "The disk is full.", FaultKind.Internal);
        var line = ParkLine(messages);
        _parking
            .When(parking => parking.DiscardAsync("shop", "c-1", Arg.Any<IReadOnlyCollection<Guid>>(), Arg.Any<CancellationToken>()))
            .Do(_ => _audit.Failure = full);

        Assert.That(() => _desk.DiscardAsync("shop", "c-1", null, Decision, cancellationToken), Throws.Exception.SameAs(full));

        Assert.That(
            line.Select(parked => parked.MessageId),
            Is.EqualTo(messages.Take(150).Select(message => message.Id)),
            "the first one last: without it the key would be due"
        );
        Assert.That(_audit.Facts.Select(fact => fact.MessageId), Is.EquivalentTo(messages.Skip(150).Select(message => message.Id)));
    }

    [Test]
    public async Task Only_the_message_that_an_endpoint_stands_at_can_be_discarded_of_it(CancellationToken cancellationToken)
    {
        _control.MoveOnAsync("ledger", _standsAt, true, Decision, Arg.Any<CancellationToken>()).Returns(true);

        Assert.That(await _desk.DiscardAsync("ledger", null, Guid.NewGuid(), Decision, cancellationToken), Is.Zero);
        Assert.That(await _desk.DiscardAsync("ledger", null, _standsAt, Decision, cancellationToken), Is.EqualTo(1));
        await _control.Received(1).MoveOnAsync("ledger", _standsAt, true, Decision, Arg.Any<CancellationToken>());
    }

    [Test]
    public async Task Endpoint_that_stands_on_another_host_is_seen_and_moved_on_there(CancellationToken cancellationToken)
    {
        var other = new FarmHost(Guid.NewGuid(), "other:1");
        var at = new EndpointStandstill(Guid.NewGuid(), Now, new FailedAttempt(Now, "ESB-Y", "no"));
        _farm
            .AskOthersAsync<ListStandstills, StandstillList>(default!, default, default)
            .ReturnsForAnyArgs(
                new FarmAnswers<StandstillList>(
                    [new FarmAnswer<StandstillList>(other, new StandstillList([new StandingEndpoint("diary", at)]))],
                    []
                )
            );
        _farm
            .AskOthersAsync<MoveOnStandstill, MovedOn>(
                new MoveOnStandstill("diary", null, false, Decision),
                Arg.Any<TimeSpan>(),
                Arg.Any<CancellationToken>()
            )
            .Returns(new FarmAnswers<MovedOn>([new FarmAnswer<MovedOn>(other, new MovedOn(true))], []));

        Assert.That(
            (await _desk.ListAsync(null, null, 10, cancellationToken)).Select(line => line.Endpoint),
            Is.EquivalentTo(new[] { "diary", "ledger" })
        );
        Assert.That((await _desk.MessagesAsync("diary", null, 0, 10, cancellationToken)).Single().Id, Is.EqualTo(at.MessageId));
        Assert.That(await _desk.ReleaseAsync("diary", null, Decision, cancellationToken), Is.True);
        Assert.That(await _desk.DiscardAsync("diary", null, null, Decision, cancellationToken), Is.Zero, "it said no");
    }

    [Test]
    public void Host_that_does_not_answer_may_be_the_one_and_the_answer_says_so()
    {
        _farm
            .AskOthersAsync<MoveOnStandstill, MovedOn>(default!, default, default)
            .ReturnsForAnyArgs(new FarmAnswers<MovedOn>([], [new FarmHost(Guid.NewGuid(), "frozen:7")]));

        var failure = Assert.ThrowsAsync<EsbException>(() => _desk.ReleaseAsync("diary", null, Decision, CancellationToken.None));

        Assert.That(failure!.Code, Is.EqualTo("ESB-FARM-SILENT"));
        Assert.That(failure.Message, Does.Contain("frozen:7"));
    }

    // The line of the key c-1, as the store would keep it.
    private List<ParkedSummary> ParkLine(params EsbMessage[] messages)
    {
        var line = messages
            .Select(message => new ParkedSummary(message.Id, message.ConversationId, message.Subject, message.Attempt, message.Party))
            .ToList();
        _parking
            .SummariesAsync("shop", "c-1", Arg.Any<Guid?>(), Arg.Any<int>(), Arg.Any<CancellationToken>())
            .Returns(call =>
                [
                    .. line.AsEnumerable()
                        .Reverse()
                        .Where(parked => call.Arg<Guid?>() is not { } meant || parked.MessageId == meant)
                        .Take(call.Arg<int>()),
                ]
            );
        _parking
            .DiscardAsync("shop", "c-1", Arg.Any<IReadOnlyCollection<Guid>>(), Arg.Any<CancellationToken>())
            .Returns(call => (long)line.RemoveAll(parked => call.Arg<IReadOnlyCollection<Guid>>().Contains(parked.MessageId)));
        return line;
    }
}
