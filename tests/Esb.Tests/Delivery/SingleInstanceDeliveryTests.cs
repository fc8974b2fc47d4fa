using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Delivery.SingleInstance;
using Esb.Tests.Fakes;
using NSubstitute;
using NUnit.Framework;

namespace Esb.Tests.Delivery;

/// <summary>An outbound endpoint of which one host of the farm delivers.</summary>
[CancelAfter(30_000)]
public sealed class SingleInstanceDeliveryTests : DeliveryFixture
{
    private const long Token = 7;

    private static readonly TestOutboundConfig Single = new() { SingleInstance = true };

    [SetUp]
    public void GrantOnce()
    {
        Leases
            .AcquireAsync(default!, default!, default, default)
            .ReturnsForAnyArgs(new Lease("endpoint an-endpoint", "this host", Token), (Lease?)null);
        Leases.RenewAsync(default!, default, default).ReturnsForAnyArgs(true);
    }

    [Test]
    public async Task Host_that_has_the_lease_raises_the_fence_before_it_receives_and_shows_its_token_with_each_message(
        CancellationToken cancellationToken
    )
    {
        await StartAsync(Single);
        Assert.That(Outside.Fences, Is.EqualTo(new[] { Token }));

        var settlement = await DeliverAsync(Some.Message(), cancellationToken);

        Assert.That((settlement, Outside.Tokens.Single()), Is.EqualTo((Settlement.Done, Token)));
        Assert.That(Controller.Status.State, Is.EqualTo(EndpointState.Running));
    }

    [Test]
    public async Task Change_of_its_settings_keeps_the_lease_and_its_token(CancellationToken cancellationToken)
    {
        await StartAsync(Single);

        await ChangeAsync(Single with { Retry = new RetryConfig { Immediate = 7 } });
        await DeliverAsync(Some.Message(), cancellationToken);

        await Leases.ReceivedWithAnyArgs(1).AcquireAsync(default!, default!, default, default);
        await Leases.DidNotReceiveWithAnyArgs().ReleaseAsync(default!, default);
        await Subscription.DidNotReceiveWithAnyArgs().DisposeAsync();
        Assert.That((Outside.Fences.Count, Outside.Tokens.Single()), Is.EqualTo((1, Token)));
        Assert.That(Controller.Status.State, Is.EqualTo(EndpointState.Running));
    }

    [Test]
    public async Task Host_that_cannot_start_it_says_so_also_after_it_gave_the_lease_back()
    {
        Outside.FenceFailure = new EndpointException("an-endpoint", "ESB-SQL-DENIED", "permission denied", isTransient: false);

        await StartAsync(Single);

        var status = Controller.Status;
        Assert.That((status.State, status.HasFailed, status.Reason), Is.EqualTo((EndpointState.Standby, true, "permission denied")));
        Assert.That(Wanted, Is.Null);
    }

    [Test]
    public async Task Host_that_has_no_lease_receives_nothing_and_stands_by()
    {
        Leases.AcquireAsync(default!, default!, default, default).ReturnsForAnyArgs((Lease?)null);

        await StartAsync(Single);

        Assert.That((Wanted, Controller.Status.State), Is.EqualTo(((Subscription?)null, EndpointState.Standby)));
    }

    [Test, Property("Case", "T-LEA-1")]
    public async Task Message_of_a_host_that_stood_still_goes_back_before_it_is_tried(CancellationToken cancellationToken)
    {
        await StartAsync(Single);
        Time.Skip(LeaseHolder.TimeToLive);

        var settlement = await DeliverAsync(Some.Message(), cancellationToken);

        Assert.That((settlement, Outside.Attempts.Count), Is.EqualTo((Settlement.Return, 0)));
    }

    [Test]
    public async Task Attempt_that_the_outside_refuses_for_its_token_counts_as_none_and_ends_the_lease(CancellationToken cancellationToken)
    {
        var isUnsubscribed = false;
        Subscription
            .DisposeAsync()
            .Returns(_ =>
            {
                isUnsubscribed = true;
                return ValueTask.CompletedTask;
            });
        Outside.RefusesToken();
        await StartAsync(Single);

        var settlement = await DeliverAsync(Some.Message(), cancellationToken);

        Assert.That((settlement, Outside.Attempts.Count), Is.EqualTo((Settlement.Return, 1)));
        Assert.That(Audit.Facts, Is.Empty);
        await Eventually.HoldsAsync(() => Controller.Status.State == EndpointState.Standby, "to stand by", cancellationToken);
        await Eventually.HoldsAsync(() => isUnsubscribed, "to unsubscribe", cancellationToken);
    }

    [Test]
    public async Task Attempt_under_way_is_ended_when_the_lease_is_lost(CancellationToken cancellationToken)
    {
        var begun = new TaskCompletionSource();
        Outside.Takes(async token =>
        {
            begun.SetResult();
            await Task.Delay(Timeout.Infinite, token);
        });
        await StartAsync(Single);
        var delivering = DeliverAsync(Some.Message(), cancellationToken);
        await begun.Task;
        Leases.RenewAsync(default!, default, default).ReturnsForAnyArgs(false);

        await AdvanceUntilAsync(delivering, TimeSpan.FromSeconds(1), cancellationToken);

        Assert.That(await delivering, Is.EqualTo(Settlement.Return));
    }

    [Test]
    public async Task Stop_lets_the_message_under_way_finish_and_then_gives_the_lease_back(CancellationToken cancellationToken)
    {
        var finish = new TaskCompletionSource();
        Outside.Takes(_ => finish.Task);
        await StartAsync(Single);
        var delivering = DeliverAsync(Some.Message(), cancellationToken);
        await Eventually.HoldsAsync(() => Outside.Attempts.Count == 1, "to begin", cancellationToken);
        Subscription.DisposeAsync().Returns(_ => new ValueTask(delivering)); // as a transport does

        var stopping = Controller.StopAsync(CancellationToken.None);
        await Leases.DidNotReceiveWithAnyArgs().ReleaseAsync(default!, default);
        finish.SetResult();
        await stopping;

        Assert.That(await delivering, Is.EqualTo(Settlement.Done));
        await Leases.ReceivedWithAnyArgs(1).ReleaseAsync(default!, default);
    }
}
