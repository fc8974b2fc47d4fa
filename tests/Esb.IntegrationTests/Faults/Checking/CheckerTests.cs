using Esb.IntegrationTests.Faults.Ledgers;

namespace Esb.IntegrationTests.Faults.Checking;

/// <summary>The checker with ledgers made by hand: it must find what is wrong, and nothing else.</summary>
public sealed class CheckerTests
{
    private const SinkPromises All = SinkPromises.Ordered | SinkPromises.Once;

    private static readonly DateTimeOffset Noon = new(2026, 1, 1, 12, 0, 0, TimeSpan.Zero);

    [Test]
    public void Run_in_which_all_arrives_once_and_in_order_breaks_nothing()
    {
        var verdict = Check([Sent("a", 1), Sent("a", 2), Sent("b", 1)], [Arrived("a", 1), Arrived("b", 1), Arrived("a", 2)]);

        Assert.Multiple(() =>
        {
            Assert.That(verdict.Broken, Is.Empty);
            Assert.That((verdict.Attempted, verdict.Acknowledged, verdict.Delivered, verdict.Unique), Is.EqualTo((3, 3, 3, 3)));
        });
    }

    [Test]
    public void Accepted_message_that_does_not_arrive_is_lost()
    {
        var verdict = Check([Sent("a", 1), Sent("a", 2)], [Arrived("a", 1)]);

        Assert.Multiple(() =>
        {
            Assert.That(verdict.Lost, Is.EqualTo(1));
            Assert.That(verdict.Broken, Has.Some.Contains("lost (a-2)"));
        });
    }

    [Test]
    public void Accepted_message_that_is_kept_for_an_operator_is_not_lost()
    {
        var message = Sent("a", 1);
        var verdict = Checker.Check([message], Evidence([]) with { Kept = new HashSet<Guid> { message.MessageId!.Value } });

        Assert.That((verdict.Lost, verdict.Kept, verdict.Broken.Count), Is.EqualTo((0, 1, 0)));
    }

    [Test]
    public void Message_of_unknown_outcome_may_arrive_or_not()
    {
        var verdict = Check([Sent("a", 1, SendOutcome.Unknown), Sent("a", 2, SendOutcome.Unknown)], [Arrived("a", 2)]);

        Assert.That((verdict.Lost, verdict.Recovered, verdict.Broken.Count), Is.EqualTo((0, 1, 0)));
    }

    [Test]
    public void Message_that_was_never_sent_is_unexpected()
    {
        var verdict = Check([], [Arrived("a", 1)]);

        Assert.That((verdict.Unexpected, verdict.Broken.Count), Is.EqualTo((1, 1)));
    }

    [Test]
    public void Message_that_was_refused_must_not_arrive()
    {
        var verdict = Check([Sent("a", 1, SendOutcome.Refused)], [Arrived("a", 1)]);

        Assert.That((verdict.Unexpected, verdict.Broken.Count), Is.EqualTo((1, 1)));
    }

    [Test]
    public void Message_that_arrives_with_another_body_is_unexpected()
    {
        var verdict = Check([Sent("a", 1)], [Arrived("a", 1) with { Hash = "other" }]);

        Assert.That((verdict.Unexpected, verdict.Broken.Count), Is.EqualTo((1, 1)));
    }

    [TestCase(false, 0)]
    [TestCase(true, 1)]
    public void Second_arrival_is_a_duplicate_and_breaks_only_what_promised_one_effect(bool isOnce, int broken)
    {
        var promises = isOnce ? SinkPromises.Once : SinkPromises.None;
        var verdict = Checker.Check([Sent("a", 1)], Evidence([Arrived("a", 1), Arrived("a", 1)]) with { Promises = promises });

        Assert.That((verdict.Duplicated, verdict.EffectDuplicated, verdict.Broken.Count), Is.EqualTo((1, broken, broken)));
    }

    [TestCase(false, 0)]
    [TestCase(true, 1)]
    public void Message_that_was_overtaken_by_a_later_one_of_its_key_is_reordered(bool isOrdered, int broken)
    {
        var promises = isOrdered ? SinkPromises.Ordered : SinkPromises.None;
        var verdict = Checker.Check(
            [Sent("a", 1), Sent("a", 2)],
            Evidence([Arrived("a", 2), Arrived("a", 1)]) with
            {
                Promises = promises,
            }
        );

        Assert.That((verdict.Reordered, verdict.Broken.Count), Is.EqualTo((1, broken)));
    }

    [Test]
    public void Late_copy_of_an_earlier_message_is_a_duplicate_and_not_out_of_order()
    {
        var verdict = Check([Sent("a", 1), Sent("a", 2)], [Arrived("a", 1), Arrived("a", 2), Arrived("a", 1)]);

        Assert.That((verdict.Reordered, verdict.Duplicated), Is.EqualTo((0, 1)));
    }

    [Test]
    public void Message_of_unknown_outcome_has_no_place_in_the_order()
    {
        var verdict = Check([Sent("a", 1, SendOutcome.Unknown), Sent("a", 2)], [Arrived("a", 2), Arrived("a", 1)]);

        Assert.That(verdict.Reordered, Is.Zero);
    }

    [TestCase(0, 1)]
    [TestCase(1, 0)]
    [TestCase(2, 1)]
    public void Accepted_message_has_exactly_one_terminal_state(int states, int gaps)
    {
        var message = Sent("a", 1);
        var facts = new[] { "Delivered", "DeadLettered" }.Take(states).ToLookup(_ => message.MessageId!.Value);
        var verdict = Checker.Check([message], Evidence([Arrived("a", 1)]) with { TerminalStates = facts });

        Assert.That((verdict.AuditGap, verdict.Broken.Count), Is.EqualTo((gaps, gaps)));
    }

    [Test]
    public void What_is_still_queued_after_the_wait_is_stuck()
    {
        var verdict = Checker.Check([Sent("a", 1)], Evidence([Arrived("a", 1)]) with { Waiting = 1 });

        Assert.That((verdict.Stuck, verdict.Broken.Count), Is.EqualTo((1, 1)));
    }

    [Test]
    public void Where_nobody_looked_nothing_is_counted()
    {
        var verdict = Check([Sent("a", 1)], [Arrived("a", 1)]);

        Assert.That((verdict.Stuck, verdict.AuditGap, verdict.Broken.Count), Is.EqualTo(((int?)null, (int?)null, 0)));
        Assert.That(verdict.ToString(), Does.Contain("stuck –, audit gap –"));
    }

    [TestCase(1, 0)]
    [TestCase(0, 1)]
    [TestCase(2, 1)]
    public void Duplicates_are_all_flagged_and_nothing_else_is(int flagged, int broken)
    {
        var evidence = Evidence([Arrived("a", 1)]) with
        {
            Promises = SinkPromises.Flagged,
            ForcedDuplicates = 1,
            FlaggedDuplicates = flagged,
        };

        Assert.That(Checker.Check([Sent("a", 1)], evidence).Broken, Has.Count.EqualTo(broken));
    }

    private static Verdict Check(IReadOnlyCollection<SentMessage> sent, IReadOnlyList<SinkEntry> arrived) =>
        Checker.Check(sent, Evidence(arrived));

    private static SinkEvidence Evidence(IReadOnlyList<SinkEntry> arrived) =>
        new()
        {
            Endpoint = "table",
            Promises = All,
            Entries = arrived,
        };

    private static SentMessage Sent(string key, int sequence, SendOutcome outcome = SendOutcome.Confirmed) =>
        new($"{key}-{sequence}", key, sequence, "work.item", $"hash of {key}-{sequence}", Noon)
        {
            Outcome = outcome,
            MessageId = Guid.NewGuid(),
        };

    private static SinkEntry Arrived(string key, int sequence) => new($"{key}-{sequence}", $"hash of {key}-{sequence}", Noon);
}
