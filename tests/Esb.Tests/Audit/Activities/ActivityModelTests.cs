using Esb.Audit.Activities;
using Esb.Core.Activities;
using Esb.Core.Audit;
using Esb.Tests.Storage;
using NUnit.Framework;

namespace Esb.Tests.Audit.Activities;

public sealed class ActivityModelTests
{
    private static readonly ActivityModel Order = Model();

    [Test]
    public void Fact_that_fits_passes_the_milestone_and_says_key_and_data()
    {
        var fact = SomeFacts.Fact(AuditKind.Recorded, fields: [("order", "A-1"), ("total", "24.90"), ("card", "secret")]) with
        {
            Name = "order-priced",
        };

        var progress = Project(fact).Single();

        Assert.Multiple(() =>
        {
            Assert.That((progress.Milestone, progress.Key, progress.Ends), Is.EqualTo(("priced", "A-1", false)));
            Assert.That(progress.Data, Is.EquivalentTo(new Dictionary<string, string> { ["total"] = "24.90" }));
            Assert.That((progress.At, progress.ConversationId), Is.EqualTo((fact.Time, fact.ConversationId)));
        });
    }

    [Test]
    public void Fact_without_the_key_passes_the_milestone_of_its_conversation() =>
        Assert.That(
            Project(SomeFacts.Fact(AuditKind.Received) with { Endpoint = "shop" }).Single(),
            Has.Property("Milestone").EqualTo("received").And.Property("Key").Null
        );

    [Test]
    public void Fact_with_the_key_that_is_no_milestone_says_what_its_conversation_is_about() =>
        Assert.That(
            Project(SomeFacts.Fact(AuditKind.Recorded, fields: [("order", "A-1")])).Single(),
            Has.Property("Milestone").Null.And.Property("Key").EqualTo("A-1")
        );

    [Test]
    public void Fact_of_something_else_says_nothing() =>
        Assert.That(Project(SomeFacts.Fact(AuditKind.Received) with { Endpoint = "elsewhere" }), Is.Empty);

    [Test]
    public void Item_ends_with_the_last_milestone_where_none_says_so() =>
        Assert.That(Project(SomeFacts.Fact(AuditKind.Delivered) with { Endpoint = "warehouse" }).Single().Ends, Is.True);

    [Test]
    public void Item_ends_with_the_milestones_that_say_so()
    {
        var model = Model(ends: true);

        Assert.That(Project(SomeFacts.Fact(AuditKind.Received) with { Endpoint = "shop" }, model).Single().Ends, Is.True);
        Assert.That(Project(SomeFacts.Fact(AuditKind.Delivered) with { Endpoint = "warehouse" }, model).Single().Ends, Is.False);
    }

    private static IReadOnlyList<ActivityProgress> Project(AuditFact fact, ActivityModel? model = null)
    {
        var progress = new List<ActivityProgress>();
        (model ?? Order).Project(fact, progress);
        return progress;
    }

    private static ActivityModel Model(bool ends = false) => new(SomeActivity.Order(ends: ends));
}

/// <summary>An order that is received, priced and delivered.</summary>
internal static class SomeActivity
{
    public static ActivityConfig Order(TimeSpan? overdueAfter = null, bool ends = false) =>
        new()
        {
            Name = "order",
            Key = "order",
            Data = ["total"],
            OverdueAfter = overdueAfter,
            Milestones =
            [
                new MilestoneConfig
                {
                    Milestone = "received",
                    When = new MilestoneFactConfig { Kind = AuditKind.Received, Endpoint = "shop" },
                    Ends = ends,
                },
                new MilestoneConfig
                {
                    Milestone = "priced",
                    When = new MilestoneFactConfig { Record = "order-priced" },
                },
                new MilestoneConfig
                {
                    Milestone = "delivered",
                    When = new MilestoneFactConfig { Kind = AuditKind.Delivered, Endpoint = "warehouse" },
                },
            ],
        };
}
