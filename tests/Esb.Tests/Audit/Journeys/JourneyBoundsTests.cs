using Esb.Audit.Journeys;
using Esb.Audit.Journeys.Drawing;
using Esb.Core.Audit;

namespace Esb.Tests.Audit.Journeys;

[CancelAfter(30_000)]
public sealed class JourneyBoundsTests
{
    [Test]
    public void Causes_that_go_in_circles_are_cut_and_told()
    {
        var story = new Story();
        foreach (var (message, cause) in new[] { (1, 3), (2, 1), (3, 2), (4, 3), (5, 5) })
            story
                .After(1)
                .Add(AuditKind.Published, message, fact => fact with { Subject = "orders.new", CausedBy = Story.MessageId(cause) });

        var journey = JourneyBuilder.Build(Story.MessageId(1), story.Facts);

        Assert.That(
            journey.Messages.Select(message => message.Id),
            Is.EquivalentTo(Enumerable.Range(1, 5).Select(Story.MessageId)),
            "each once"
        );
        Assert.That(journey.Remarks, Is.EqualTo(new[] { "1 message is said to be caused by what they caused; those links are left out." }));
    }

    [Test]
    public void Message_of_unknown_cause_stands_for_itself_and_names_it()
    {
        var story = Story
            .OfOrder()
            .After(1)
            .Add(AuditKind.Published, 2, fact => fact with { Subject = "orders.new", CausedBy = Story.MessageId(99) });

        var journey = JourneyBuilder.Build(Story.MessageId(1), story.Facts);

        Assert.That(
            journey.Roots.Select(root => (root.Id, root.CausedBy, root.Cause)),
            Is.EqualTo(
                new[]
                {
                    (Story.MessageId(1), (Guid?)null, JourneyCause.None),
                    (Story.MessageId(2), (Guid?)Story.MessageId(99), JourneyCause.Unknown),
                }
            )
        );
        Assert.That(journey.Remarks, Is.EqualTo(new[] { "Nothing is recorded of what 1 message was made of." }));
    }

    [Test]
    public void Ten_thousand_facts_are_shown_more_are_cut_and_the_message_asked_for_stays()
    {
        var story = new Story();
        for (var message = 1; message <= 10_500; message++)
            story.After(1).Add(AuditKind.Published, message, fact => fact with { Subject = "orders.new", Endpoint = "split" });

        var journey = JourneyBuilder.Build(Story.MessageId(10_500), story.Facts);
        var (text, svg, mermaid) = (TextDrawing.Draw(journey), SvgDrawing.Draw(journey), MermaidDrawing.Draw(journey));

        using (Assert.EnterMultipleScope())
        {
            Assert.That(journey.Facts, Is.EqualTo(10_000));
            Assert.That(journey.Messages.Select(message => message.Id), Does.Contain(Story.MessageId(10_500)));
            Assert.That(
                text,
                Does.Contain("note: Only 10000 facts are shown, those of the message and the first of the others; there are more.")
            );
            Assert.That(svg, Does.Contain("9800 further facts are not drawn."));
            Assert.That(mermaid.Split('\n'), Has.Length.LessThan(300));
        }
    }

    [Test]
    public void Chain_of_ten_thousand_messages_is_a_tree_that_any_reader_can_follow()
    {
        var story = new Story();
        for (var message = 1; message <= 10_000; message++)
            story
                .After(1)
                .Add(
                    AuditKind.Published,
                    message,
                    fact => fact with { Subject = "orders.new", CausedBy = message == 1 ? null : Story.MessageId(message - 1) }
                );

        var journey = JourneyBuilder.Build(Story.MessageId(1), story.Facts);

        Assert.That(journey.Messages.Count(), Is.EqualTo(10_000));
        Assert.That(DepthOf(journey.Roots.Single()), Is.EqualTo(16));
        Assert.That(journey.Remarks, Is.EqualTo(new[] { "9984 messages lie deeper than 16 and stand beside those that caused them." }));
    }

    [Test]
    public void Many_endpoints_share_the_last_lifeline()
    {
        var story = Story.OfOrder();
        for (var endpoint = 0; endpoint < 60; endpoint++)
            story.After(1).Try(AuditKind.Delivered, 1, $"endpoint-{endpoint}", 1);

        var svg = SvgDrawing.Draw(JourneyBuilder.Build(Story.MessageId(1), story.Facts));

        Assert.That(svg, Does.Contain("41 others"));
    }

    [Test]
    public void Clock_that_is_behind_changes_neither_order_nor_outcome_and_is_told()
    {
        var story = Story
            .OfOrder()
            .On(Story.HostB)
            .After(-2_000)
            .Try(AuditKind.Failed, 1, "shop", 1, "ESB-HTTP-STATUS")
            .After(20)
            .Try(AuditKind.Delivered, 1, "shop", 2);

        var journey = JourneyBuilder.Build(Story.MessageId(1), story.Facts);

        var stages = journey.Roots.Single().Stages;
        using (Assert.EnterMultipleScope())
        {
            Assert.That(
                stages.Select(stage => stage.Kind),
                Is.EqualTo(new[] { JourneyStageKind.Entry, JourneyStageKind.Publication, JourneyStageKind.Delivery })
            );
            Assert.That(journey.State, Is.EqualTo(JourneyState.Delivered));
            Assert.That(journey.Duration, Is.LessThan(TimeSpan.FromMilliseconds(100)));
            Assert.That(journey.Hosts.Single(host => host.Name == Story.HostB).ClockBehind, Is.EqualTo(TimeSpan.FromMilliseconds(2_002)));
            Assert.That(journey.Remarks.Single(), Does.StartWith("The clock of host-b:202 is at least 2.002 s behind"));
        }
    }

    [Test]
    public void Dead_letter_kept_by_a_host_whose_clock_is_behind_still_comes_after_the_attempt()
    {
        var story = Story
            .OfOrder()
            .After(6)
            .Try(AuditKind.Failed, 1, "shop", 1, "ESB-HTTP-STATUS")
            .On(Story.HostB)
            .After(-300)
            .GiveUp(1, "shop", 1, "ESB-HTTP-STATUS");

        Assert.That(JourneyBuilder.Build(Story.MessageId(1), story.Facts).State, Is.EqualTo(JourneyState.DeadLettered));
    }

    [Test]
    public void Duration_that_makes_no_sense_does_no_harm()
    {
        var story = Story
            .OfOrder()
            .After(5)
            .Try(AuditKind.Delivered, 1, "shop", 1, took: -50)
            .Add(AuditKind.Delivered, 1, fact => fact with { Endpoint = "ledger", Attempt = 1, Duration = TimeSpan.MaxValue });

        var journey = JourneyBuilder.Build(Story.MessageId(1), story.Facts);

        Assert.That(journey.Roots.Single().Stages, Has.All.Matches<JourneyStage>(stage => stage.Duration >= TimeSpan.Zero));
        Assert.That(journey.Duration, Is.LessThan(TimeSpan.FromSeconds(1)));
    }

    private static int DepthOf(JourneyMessage message) => 1 + message.Caused.Select(DepthOf).DefaultIfEmpty().Max();
}
