using Esb.Audit.Activities;
using Esb.Core.Activities;
using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Tests.Storage;
using Microsoft.Extensions.Logging.Abstractions;
using NSubstitute;
using NSubstitute.ExceptionExtensions;
using NUnit.Framework;

namespace Esb.Tests.Audit.Activities;

[FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class FollowedAuditWriterTests
{
    private readonly IActivityStore _activities = Substitute.For<IActivityStore>();
    private readonly MemoryAuditStore _facts = new();
    private readonly AuditFact _received = SomeFacts.Fact(AuditKind.Received) with { Endpoint = "shop" };

    private FollowedAuditWriter Store =>
        new(
            _facts,
            new ActivityFeed(
                Live<IReadOnlyList<ActivityModel>>.Always([new ActivityModel(SomeActivity.Order())]),
                _activities,
                NullLogger<ActivityFeed>.Instance
            )
        );

    [Test]
    public async Task Activities_follow_what_is_kept()
    {
        await Store.AppendAsync([_received, SomeFacts.Fact()], default);

        await _activities
            .Received(1)
            .RecordAsync(
                Arg.Is<IReadOnlyList<ActivityProgress>>(progress => progress.Count == 1 && progress[0].Milestone == "received"),
                Arg.Any<CancellationToken>()
            );
    }

    [Test]
    public async Task Facts_that_belong_to_no_activity_cost_the_store_nothing()
    {
        await Store.AppendAsync([SomeFacts.Fact()], default);

        await _activities.DidNotReceiveWithAnyArgs().RecordAsync(default!, default);
    }

    [Test]
    public void Activities_follow_nothing_that_was_not_kept()
    {
        _facts.Failure = _ => new EsbException("ESB-AUD-WRITE", "away", FaultKind.Unavailable);

        Assert.That(() => Store.AppendAsync([_received], default), Throws.TypeOf<EsbException>());
        _activities.DidNotReceiveWithAnyArgs().RecordAsync(default!, default);
    }

    [Test]
    public void While_the_store_of_activities_is_away_facts_are_handed_over_again()
    {
        _activities.RecordAsync(default!, default).ThrowsAsyncForAnyArgs(new EsbException("ESB-STORE-AWAY", "away", FaultKind.Unavailable));

        Assert.That(() => Store.AppendAsync([_received], default), Throws.TypeOf<EsbException>().With.Property("IsTransient").True);
    }

    [Test]
    public async Task What_the_store_of_activities_refuses_holds_up_no_facts()
    {
        _activities.RecordAsync(default!, default).ThrowsAsyncForAnyArgs(new EsbException("ESB-STORE-REFUSED", "no", FaultKind.Internal));

        await Store.AppendAsync([_received], default);

        Assert.That(_facts.Facts.Single(), Is.SameAs(_received));
    }
}
