using Esb.Audit.Activities;
using Esb.Core.Activities;
using NUnit.Framework;

namespace Esb.Tests.Audit.Activities;

[FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class ActivityTallyTests
{
    private static readonly DateTimeOffset Noon = new(2026, 3, 1, 12, 0, 0, TimeSpan.Zero);

    private readonly ActivityTally _tally = new(
        new ActivityModel(SomeActivity.Order(TimeSpan.FromMinutes(30))),
        Noon,
        Noon.AddHours(3),
        TimeSpan.FromHours(1)
    );

    [Test]
    public void Items_count_where_they_began_and_where_they_ended()
    {
        _tally.Add(Item(("received", -10), ("delivered", 5))); // began before, ended in time
        _tally.Add(Item(("received", 5), ("priced", 6), ("delivered", 65)));
        _tally.Add(Item(("received", 130), ("priced", 132)));
        _tally.Add(Item(("received", 170), ("priced", 172), ("delivered", 200))); // ended after

        var report = _tally.ToReport(open: 7, overdue: 2);

        Assert.Multiple(() =>
        {
            Assert.That(
                (report.Started, report.Completed, report.CompletedLate, report.InProgress, report.Overdue),
                Is.EqualTo((3L, 2L, (long?)1, 7L, (long?)2))
            );
            Assert.That(
                report.Buckets!.Select(bucket => (bucket.At, bucket.Started, bucket.Completed)),
                Is.EqualTo(new[] { (Noon, 1L, 1L), (Noon.AddHours(1), 0L, 1L), (Noon.AddHours(2), 2L, 0L) })
            );
        });
    }

    [Test]
    public void Durations_are_those_from_one_milestone_to_the_next_and_of_the_whole()
    {
        for (var minutes = 1; minutes <= 100; minutes++)
            _tally.Add(Item(("received", 0), ("priced", minutes), ("delivered", minutes + 20)));

        var durations = _tally.ToReport(0, 0).Durations;

        Assert.Multiple(() =>
        {
            Assert.That(
                durations.Select(one => (one.From, one.To, one.Count)),
                Is.EqualTo(new[] { ("received", "priced", 100L), ("priced", "delivered", 100L), ("start", "end", 100L) })
            );
            Assert.That(durations[0].P50, Is.EqualTo(50 * 60).Within(7).Percent);
            Assert.That(durations[0].P95, Is.EqualTo(95 * 60).Within(7).Percent);
            Assert.That(durations[1].Mean, Is.EqualTo(20 * 60).Within(0.01));
            Assert.That(durations[2].Max, Is.EqualTo(120 * 60).Within(0.01));
        });
    }

    [Test]
    public void Milestones_passed_the_other_way_round_have_no_duration()
    {
        _tally.Add(Item(("priced", 1), ("received", 2)));

        Assert.That(_tally.ToReport(0, 0).Durations[0].Count, Is.Zero);
    }

    private static ActivityItem Item(params (string Milestone, int Minutes)[] milestones) =>
        new()
        {
            Activity = "order",
            Id = Guid.NewGuid().ToString(),
            ConversationId = Guid.NewGuid(),
            StartedAt = Noon.AddMinutes(milestones.Min(one => one.Minutes)),
            CompletedAt = milestones.Any(one => one.Milestone == "delivered")
                ? Noon.AddMinutes(milestones.Single(one => one.Milestone == "delivered").Minutes)
                : null,
            Milestones = milestones.ToDictionary(one => one.Milestone, one => Noon.AddMinutes(one.Minutes)),
            Data = new Dictionary<string, string>(),
        };
}
