using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Replays;
using Esb.Core.Storage;
using Esb.Delivery.Replay;
using Microsoft.Extensions.Logging.Abstractions;
using NSubstitute;

namespace Esb.Tests.Delivery.Replay;

public sealed class ReplayDeskTests : ReplayFixture
{
    [Test, CancelAfter(30_000)]
    public async Task Preview_counts_and_changes_nothing(CancellationToken cancellationToken)
    {
        await KeepAsync(3, cancellationToken);
        await KeepAsync(1, cancellationToken, "gone");

        var preview = await Desk.PreviewAsync(new ReplayRequest { Letters = new() }, cancellationToken);

        Assert.That(preview.Count, Is.EqualTo(4));
        Assert.That(preview.Groups.Select(group => (group.Endpoint, group.Count)), Is.EqualTo([("shop", 3), ("gone", 1)]));
        Assert.That(preview.Obstacles, Is.EqualTo(["There is no outbound endpoint 'gone'; name another one"]));
        Assert.That(await StatesAsync(cancellationToken), Is.All.EqualTo(DeadLetterState.Open));
        Assert.That(await Jobs.ListAsync(null, 10, cancellationToken), Is.Empty);
    }

    [
        TestCase("gone", "ESB-REPLAY-ENDPOINT", 422),
        TestCase("called", "ESB-REPLAY-ENDPOINT", 422),
        TestCase("ledger", "ESB-REPLAY-ORDER", 409),
        CancelAfter(30_000)
    ]
    public async Task Letters_that_cannot_go_back_are_refused_and_may_be_redirected(
        string endpoint,
        string code,
        int status,
        CancellationToken cancellationToken
    )
    {
        await KeepAsync(1, cancellationToken, endpoint);

        Assert.That(() => ReplayAsync(All(endpoint), cancellationToken), Refuses(code, status));
        Assert.That(await StatesAsync(cancellationToken), Is.EqualTo([DeadLetterState.Open]));
        Assert.That((await ReplayAsync(All(endpoint) with { Redirect = "shop" }, cancellationToken)).Total, Is.EqualTo(1));
    }

    [Test, CancelAfter(30_000), Property("Case", "AUD-07")]
    public async Task Filter_that_finds_ten_million_letters_is_counted_and_needs_a_limit(CancellationToken cancellationToken)
    {
        var letters = Substitute.For<IDeadLetterStore>();
        letters
            .GroupAsync(null!, true, default)
            .ReturnsForAnyArgs([new DeadLetterGroup("shop", "ESB-HTTP-STATUS", "The shop answered 503.", 10_000_000, default, default)]);
        var jobs = Substitute.For<IReplayJobStore>();
        jobs.CreateAsync(null!, default).ReturnsForAnyArgs(call => call.Arg<ReplayJob>());
        var desk = new ReplayDesk(
            SomeTargets(),
            letters,
            jobs,
            new ReplaySignal(),
            Audit,
            TimeProvider.System,
            NullLogger<ReplayDesk>.Instance
        );

        var preview = await desk.PreviewAsync(All(), cancellationToken);

        Assert.That(
            (preview.Count, preview.Obstacles.Single()),
            Is.EqualTo((10_000_000, "There are 10000000 such dead letters; say as limit how many are meant."))
        );
        Assert.That(() => desk.ReplayAsync(All(), null, Decision, cancellationToken), Refuses("ESB-REPLAY-LIMIT", null));
        Assert.That(
            (await desk.ReplayAsync(All() with { Limit = 20_000 }, null, Decision, cancellationToken)).Request.Limit,
            Is.EqualTo(20_000)
        );
        Assert.That((await desk.PreviewAsync(All() with { Limit = 20_000 }, cancellationToken)).Count, Is.EqualTo(20_000));
    }

    [Test, CancelAfter(30_000)]
    public async Task Limit_takes_the_oldest_letters(CancellationToken cancellationToken)
    {
        var kept = await KeepAsync(5, cancellationToken);

        var job = await ReplayAsync(All() with { Limit = 2 }, cancellationToken);

        var claim = (await Jobs.ClaimAsync("here", cancellationToken))!;
        Assert.That(job.Total, Is.EqualTo(2));
        Assert.That(
            (await Jobs.NextAsync(claim, 10, cancellationToken)).Select(letter => letter.Id),
            Is.EqualTo(kept.Take(2).Select(letter => letter.Id))
        );
    }

    [Test, CancelAfter(30_000)]
    public async Task Key_that_moved_on_needs_a_word(CancellationToken cancellationToken)
    {
        await KeepAsync(1, cancellationToken);

        Assert.That(() => ReplayAsync(All() with { Redirect = "ledger" }, cancellationToken), Refuses("ESB-REPLAY-ORDER", 409));
        Assert.That((await ReplayAsync(All() with { Redirect = "ledger", OutOfOrder = true }, cancellationToken)).Total, Is.EqualTo(1));
    }

    [Test, CancelAfter(30_000), Property("Case", "API-18")]
    public async Task Same_command_makes_the_same_job_and_a_different_one_is_refused(CancellationToken cancellationToken)
    {
        await KeepAsync(2, cancellationToken);

        var twice = await Task.WhenAll(
            Desk.ReplayAsync(All(), "monday", Decision, cancellationToken),
            Desk.ReplayAsync(All(), "monday", Decision, cancellationToken)
        );
        var later = await Desk.ReplayAsync(All(), "monday", Decision, cancellationToken);

        Assert.That(twice.Append(later).Select(job => job.Id).Distinct().Count(), Is.EqualTo(1));
        Assert.That(
            () => Desk.ReplayAsync(All() with { Rate = 5 }, "monday", Decision, cancellationToken),
            Refuses("ESB-REPLAY-COMMAND", 409)
        );
        Assert.That(() => ReplayAsync(All(), cancellationToken), Refuses("ESB-REPLAY-NOTHING", 409), "the job has them all");
    }

    [Test, CancelAfter(30_000)]
    public async Task Job_that_is_over_is_not_resumed(CancellationToken cancellationToken)
    {
        await KeepAsync(1, cancellationToken);
        var job = await ReplayAsync(All(), cancellationToken);

        var cancelled = await Desk.ChangeAsync(job.Id, ReplayState.Cancelled, Decision, cancellationToken);
        var again = await Desk.ChangeAsync(job.Id, ReplayState.Cancelled, Decision, cancellationToken);

        Assert.That((cancelled!.State, again!.State), Is.EqualTo((ReplayState.Cancelled, ReplayState.Cancelled)));
        Assert.That(() => Desk.ChangeAsync(job.Id, ReplayState.Running, Decision, cancellationToken), Refuses("ESB-REPLAY-OVER", 409));
        Assert.That(await Desk.ChangeAsync(Guid.NewGuid(), ReplayState.Paused, Decision, cancellationToken), Is.Null);
    }

    [Test, CancelAfter(120_000)]
    public async Task Discarding_gives_up_all_that_match_and_records_each_with_who_and_why(CancellationToken cancellationToken)
    {
        var letters = await KeepAsync(510, cancellationToken);
        await KeepAsync(1, cancellationToken, "ledger");

        var count = await Desk.DiscardAsync(new() { Endpoint = "shop" }, Decision, cancellationToken);

        Assert.That(count, Is.EqualTo(510));
        Assert.That((await StatesAsync(cancellationToken)).Count(state => state == DeadLetterState.Discarded), Is.EqualTo(510));
        Assert.That(
            Audit.Facts.Select(fact => (fact.Kind, fact.Endpoint, fact.Reason, fact.Fields["operator"])),
            Is.All.EqualTo((AuditKind.Discarded, "shop", "the shop is back", "ada"))
        );
        Assert.That(Audit.Facts.Select(fact => fact.MessageId), Is.EquivalentTo(letters.Select(letter => letter.Message.Id)));
    }

    private static NUnit.Framework.Constraints.IResolveConstraint Refuses(string code, int? status) =>
        Throws
            .TypeOf<EsbException>()
            .With.Property(nameof(EsbException.Code))
            .EqualTo(code)
            .And.Property(nameof(EsbException.Status))
            .EqualTo(status);
}
