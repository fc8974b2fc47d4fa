using Esb.Audit.Journeys;
using Esb.Core.Audit;
using Esb.Core.Messages;

namespace Esb.Tests.Audit.Journeys;

public sealed class JourneyTests
{
    [
        TestCase("fan-out", JourneyState.Delivered),
        TestCase("retry-and-replay", JourneyState.Delivered),
        TestCase("request-reply", JourneyState.Replied),
        TestCase("call", JourneyState.Delivered),
        TestCase("steps", JourneyState.Replied),
        TestCase("refused", JourneyState.Refused),
        TestCase("duplicate", JourneyState.Delivered),
        TestCase("parked", JourneyState.Parked),
        TestCase("redirect-and-edit", JourneyState.Delivered)
    ]
    public void Journey_stands_as_what_wants_most_attention(string story, JourneyState state) =>
        Assert.That(Build(Stories.All[story]()).State, Is.EqualTo(state));

    [Test]
    public void Every_branch_of_a_fan_out_is_a_stage_of_one_message()
    {
        var message = Build(Stories.FanOut()).Roots.Single();

        Assert.That(
            message.Stages.Select(stage => (stage.Kind, stage.Endpoint)),
            Is.EqualTo(
                new[]
                {
                    (JourneyStageKind.Entry, "orders-in"),
                    (JourneyStageKind.Publication, "orders-in"),
                    (JourneyStageKind.Delivery, "ledger"),
                    (JourneyStageKind.Delivery, "shop"),
                    (JourneyStageKind.Delivery, "archive"),
                }
            )
        );
        Assert.That((message.Party, message.Subject, message.Fields["order"]), Is.EqualTo(("shop", "orders.accepted", "A-1001")));
    }

    [Test]
    public void Attempts_and_replays_of_an_endpoint_stand_together_and_waiting_is_told_from_work()
    {
        var journey = Build(Stories.RetryAndReplay());

        var delivery = journey.Roots.Single().Stages[^1];
        using (Assert.EnterMultipleScope())
        {
            Assert.That(
                delivery.Events.Select(happened => (happened.Fact.Kind, happened.Fact.Attempt, happened.Replay)),
                Is.EqualTo(
                    new[]
                    {
                        (AuditKind.Failed, 1, 0),
                        (AuditKind.Failed, 2, 0),
                        (AuditKind.DeadLettered, 2, 0),
                        (AuditKind.Replayed, 0, 1),
                        (AuditKind.Delivered, 1, 1),
                    }
                )
            );
            Assert.That(journey.Hosts.Select(host => host.Name), Is.EqualTo(new[] { Story.HostA, Story.HostB }));
            Assert.That(journey.Hosts[0].Revisions, Is.EqualTo(new[] { "3f2a9c1d0b7e" }));
            Assert.That(journey.Duration, Is.EqualTo(TimeSpan.FromMilliseconds(4 + 8 + 6 + 10_000 + 2 + 3_600_000 + 20)));
            Assert.That(journey.Working, Is.EqualTo(TimeSpan.FromMilliseconds(4 + 3 + 5 + 5 + 7)));
            Assert.That(journey.Waiting + journey.Working, Is.EqualTo(journey.Duration));
        }
    }

    [Test]
    public void Every_kind_of_fact_has_its_place([Values] AuditKind kind, [Values(null, "shop")] string? endpoint) =>
        Assert.That(Build(Story.OfOrder().After(5).Add(kind, 1, fact => fact with { Endpoint = endpoint })).Facts, Is.GreaterThan(1));

    [Test]
    public void What_was_erased_of_a_message_changes_nothing_in_how_it_stands() =>
        Assert.That(
            Build(Story.OfOrder().After(5).Try(AuditKind.Delivered, 1, "shop", 1).After(5).Add(AuditKind.Erased, 1)).State,
            Is.EqualTo(JourneyState.Delivered)
        );

    [
        TestCase(AuditKind.Failed, JourneyState.UnderWay),
        TestCase(AuditKind.Expired, JourneyState.Expired),
        TestCase(AuditKind.Discarded, JourneyState.Discarded),
        TestCase(AuditKind.ReplyAbandoned, JourneyState.Abandoned),
        TestCase(AuditKind.Filtered, JourneyState.Filtered),
        TestCase(AuditKind.DeadLettered, JourneyState.DeadLettered)
    ]
    public void Last_fact_of_an_endpoint_says_how_the_message_stands(AuditKind kind, JourneyState state) =>
        Assert.That(Build(Story.OfOrder().After(5).Try(kind, 1, "shop", 1)).Roots.Single().State, Is.EqualTo(state));

    [
        TestCase(AuditKind.Failed, JourneyState.Failed),
        TestCase(AuditKind.Aborted, JourneyState.Aborted),
        TestCase(AuditKind.Filtered, JourneyState.Filtered),
        TestCase(AuditKind.Completed, JourneyState.Completed),
        TestCase(AuditKind.Replied, JourneyState.Replied)
    ]
    public void What_ends_a_message_at_its_entry_is_not_a_delivery(AuditKind kind, JourneyState state)
    {
        var story = new Story()
            .Add(AuditKind.Received, 1, fact => fact with { Endpoint = "orders-in" })
            .After(3)
            .Add(kind, 1, fact => fact with { Endpoint = "orders-in" });

        var stage = Build(story).Roots.Single().Stages.Single();

        Assert.That((stage.Kind, stage.State), Is.EqualTo((JourneyStageKind.Entry, state)));
    }

    [TestCase(AuditKind.Completed, JourneyState.Completed), TestCase(AuditKind.Replied, JourneyState.Replied)]
    public void Coming_again_does_not_undo_how_a_message_ended_at_its_entry(AuditKind end, JourneyState state)
    {
        var story = new Story();
        foreach (var kind in (AuditKind[])[AuditKind.Received, end, AuditKind.Duplicate])
            story.After(3).Add(kind, 1, fact => fact with { Endpoint = "orders-in", Process = "receive-order" });

        Assert.That(Build(story).Roots.Single().Stages.Single().State, Is.EqualTo(state));
    }

    [Test]
    public void Steps_stand_at_the_entry_and_calls_at_the_endpoints_they_reached()
    {
        var stages = Build(Stories.Steps()).Roots.Single().Stages;

        Assert.That(
            stages.Select(stage => (stage.Kind, stage.Endpoint, stage.State, stage.Events.Count)),
            Is.EqualTo(
                new[]
                {
                    (JourneyStageKind.Entry, "quotes-in", JourneyState.Replied, 5),
                    (JourneyStageKind.Call, "rates", JourneyState.Delivered, 1),
                }
            )
        );
    }

    [Test]
    public void Steps_alone_do_not_say_that_a_message_was_done_with()
    {
        var story = new Story()
            .Add(AuditKind.Received, 1, fact => fact with { Endpoint = "quotes-in", Process = "quote" })
            .After(1)
            .Add(AuditKind.StepEnded, 1, fact => fact with { Endpoint = "quotes-in", Process = "quote", Step = "check" });

        Assert.That(Build(story).State, Is.EqualTo(JourneyState.Received));
    }

    [Test]
    public void Message_is_shown_below_the_one_that_caused_it()
    {
        var root = Build(Stories.SecondPublish()).Roots.Single();

        Assert.That((root.Id, root.Cause), Is.EqualTo((Story.MessageId(1), JourneyCause.None)));
        Assert.That(
            root.Caused.Select(caused => (caused.Id, caused.CausedBy, caused.Cause)),
            Is.EqualTo(new[] { (Story.MessageId(2), (Guid?)Story.MessageId(1), JourneyCause.Recorded) })
        );
    }

    [Test]
    public void Cause_that_older_facts_do_not_name_is_found_by_ids_entries_and_conversation()
    {
        var reply = MessageIds.Derive(Story.MessageId(1), "reply");
        var story = new Story { Host = null }
            .Add(AuditKind.Received, 1, fact => fact with { Endpoint = "orders-in", Process = "receive-order" })
            .After(2)
            .Add(AuditKind.Published, 2, fact => fact with { Endpoint = "orders-in", Process = "receive-order", Subject = "invoices.new" })
            .After(2)
            .Add(AuditKind.Received, 5, fact => fact with { Endpoint = "invoices-in", Process = "invoice" })
            .After(2)
            .Add(AuditKind.Published, 6, fact => fact with { Endpoint = "invoices-in", Process = "invoice", Subject = "mails.new" })
            .After(2)
            .Add(AuditKind.Recorded, 7, fact => fact with { MessageId = reply })
            .After(2)
            .Try(AuditKind.Delivered, 8, "billing", 1);

        var messages = Build(story).Messages.ToDictionary(message => message.Id);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(
                (messages[Story.MessageId(2)].CausedBy, messages[Story.MessageId(2)].Cause),
                Is.EqualTo(((Guid?)Story.MessageId(1), JourneyCause.Derived)),
                "published by what came in there"
            );
            Assert.That(
                (messages[Story.MessageId(5)].CausedBy, messages[Story.MessageId(5)].Cause),
                Is.EqualTo(((Guid?)null, JourneyCause.None)),
                "came from outside"
            );
            Assert.That(messages[Story.MessageId(6)].CausedBy, Is.EqualTo(Story.MessageId(5)));
            Assert.That(messages[reply].CausedBy, Is.EqualTo(Story.MessageId(1)), "the id of a reply");
            Assert.That(messages[Story.MessageId(8)].CausedBy, Is.EqualTo(Story.MessageId(1)), "nothing but the conversation tells");
        }
    }

    [Test]
    public void Dead_letter_that_went_on_elsewhere_says_where()
    {
        var journey = Build(Stories.RedirectAndEdit());

        var root = journey.Roots.Single();
        var stages = root.Stages.ToDictionary(stage => stage.Endpoint + stage.Kind);
        Assert.That((stages["shopDelivery"].State, stages["shopDelivery"].ReplayedAs), Is.EqualTo((JourneyState.Replayed, "shop-2")));
        Assert.That(
            (stages["ledgerDelivery"].State, stages["ledgerDelivery"].ReplayedAs),
            Is.EqualTo((JourneyState.Replayed, Story.MessageId(2).ToString()))
        );
        Assert.That((root.Caused.Single().Id, root.Caused.Single().State), Is.EqualTo((Story.MessageId(2), JourneyState.Delivered)));
    }

    [Test]
    public void Same_facts_in_any_order_and_twice_make_the_same_journey()
    {
        var facts = Stories.RetryAndReplay().Facts;

        var one = Esb.Audit.Journeys.Drawing.TextDrawing.Draw(JourneyBuilder.Build(Story.MessageId(1), facts));
        var other = Esb.Audit.Journeys.Drawing.TextDrawing.Draw(JourneyBuilder.Build(Story.MessageId(1), [.. facts.Reverse(), .. facts]));

        Assert.That(other, Is.EqualTo(one));
    }

    private static Journey Build(Story story) => JourneyBuilder.Build(Story.MessageId(1), story.Facts);
}
