using System.Diagnostics;
using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Replays;
using Esb.Core.Storage;
using Esb.Core.Topics;

namespace Esb.Tests.Delivery.Replay;

public sealed class ReplayRunTests : ReplayFixture
{
    [Test, CancelAfter(30_000)]
    public async Task Letters_go_to_their_endpoint_with_their_ids_and_are_marked_and_recorded(CancellationToken cancellationToken)
    {
        var letters = await KeepAsync(120, cancellationToken);
        await StartRunnerAsync();

        var job = await ReplayAsync(All(), cancellationToken);
        var done = await WaitForAsync(job.Id, now => now.IsOver, cancellationToken);

        Assert.That((done.State, done.Replayed, done.Failed), Is.EqualTo((ReplayState.Completed, 120, 0)));
        Assert.That(Queues.Sent.Select(sent => sent.Message.Id), Is.EquivalentTo(letters.Select(letter => letter.Message.Id)));
        Assert.That(
            Queues.Sent.Select(sent => (sent.Endpoint, sent.Kind, sent.Message.Attempt)),
            Is.All.EqualTo(("shop", DeliveryKind.Replay, 0))
        );
        Assert.That(await StatesAsync(cancellationToken), Is.All.EqualTo(DeadLetterState.Replayed));
        Assert.That(
            Audit.Facts.Select(fact => (fact.Kind, fact.Fields["job"], fact.Fields["operator"], fact.Reason)),
            Is.All.EqualTo((AuditKind.Replayed, job.Id.ToString(), "ada", "the shop is back"))
        );
        Assert.That(Audit.Facts, Has.Count.EqualTo(120));
    }

    [TestCase(false), TestCase(true), CancelAfter(30_000), Property("Case", "XPT-11")]
    public async Task Letter_of_a_message_that_went_in_circles_begins_its_way_anew(bool edited, CancellationToken cancellationToken)
    {
        var letter = await KeepAsync(MessageHops.Set(Some.Message("in circles", "orders.accepted"), MessageHops.Most), cancellationToken);
        var edit = new ReplayEdit { Headers = new Dictionary<string, string>(letter.Message.Headers) };
        await StartRunnerAsync();

        var job = await ReplayAsync(
            edited
                ? new ReplayRequest
                {
                    Letters = new() { Ids = [letter.Id] },
                    Edit = edit,
                }
                : All(),
            cancellationToken
        );
        await WaitForAsync(job.Id, now => now.IsOver, cancellationToken);

        Assert.That(MessageHops.Of(Queues.Sent.Single().Message), Is.Zero);
        Assert.That(MessageHops.Of((await Letters.GetAsync(letter.Id, cancellationToken))!.Letter.Message), Is.EqualTo(32));
    }

    [Test, CancelAfter(30_000)]
    public async Task Letter_is_not_sent_again_because_it_cannot_be_recorded_yet(CancellationToken cancellationToken)
    {
        await KeepAsync(3, cancellationToken);
        Audit.Failure = new EsbException("ESB-AUD-FULL", "The spool of the audit is full.", FaultKind.Unavailable);
        await StartRunnerAsync();

        var job = await ReplayAsync(All(), cancellationToken);
        await Task.Delay(TimeSpan.FromSeconds(3), cancellationToken); // longer than a round
        Audit.Failure = null;
        await WaitForAsync(job.Id, now => now.State == ReplayState.Completed, cancellationToken);

        Assert.That(Queues.Sent.Select(sent => sent.Message.Id), Is.Unique.And.Exactly(3).Items);
        Assert.That(Audit.Facts, Has.Count.EqualTo(3));
    }

    [Test, CancelAfter(30_000)]
    public async Task Letter_is_marked_only_when_it_is_confirmed(CancellationToken cancellationToken)
    {
        await KeepAsync(1, cancellationToken);
        Queues.Answer = (_, _) => Task.FromResult(PublishResult.Unknown("the broker is away"));
        await StartRunnerAsync();

        var job = await ReplayAsync(All(), cancellationToken);
        await Task.Delay(200, cancellationToken);
        var whileAway = await StatesAsync(cancellationToken);
        Queues.Answer = null;
        await WaitForAsync(job.Id, now => now.State == ReplayState.Completed, cancellationToken);

        Assert.That(whileAway, Is.EqualTo([DeadLetterState.Replaying]));
        Assert.That(Queues.Sent, Has.Count.EqualTo(1));
        Assert.That(await StatesAsync(cancellationToken), Is.EqualTo([DeadLetterState.Replayed]));
    }

    [Test, CancelAfter(30_000)]
    public async Task Failure_that_nobody_foresaw_holds_the_job_up_and_does_not_end_it(CancellationToken cancellationToken)
    {
        await KeepAsync(1, cancellationToken);
        Queues.Answer = (_, _) => throw new InvalidOperationException("A defect.");
        await StartRunnerAsync();

        var job = await ReplayAsync(All(), cancellationToken);
        var heldUp = await WaitForAsync(job.Id, now => now.Trouble is not null, cancellationToken);
        Queues.Answer = null;
        var done = await WaitForAsync(job.Id, now => now.IsOver, cancellationToken);

        Assert.That(heldUp.Trouble, Does.Contain("InvalidOperationException").And.Not.Contains("A defect."));
        Assert.That((done.State, done.Replayed, done.Trouble), Is.EqualTo((ReplayState.Completed, 1, (string?)null)));
    }

    [Test, CancelAfter(30_000)]
    public async Task Edited_letter_goes_as_a_message_of_its_own_and_both_are_linked(CancellationToken cancellationToken)
    {
        var letter = (await KeepAsync(1, cancellationToken))[0];
        var edit = new ReplayEdit
        {
            Body = "mended"u8.ToArray(),
            ContentType = "text/markdown",
            Headers = new Dictionary<string, string> { ["x-mended"] = "yes" },
        };
        await StartRunnerAsync();

        var job = await ReplayAsync(
            new ReplayRequest
            {
                Letters = new() { Ids = [letter.Id] },
                Edit = edit,
            },
            cancellationToken
        );
        await WaitForAsync(job.Id, now => now.IsOver, cancellationToken);

        var sent = Queues.Sent.Single().Message;
        var kept = (await Letters.GetAsync(letter.Id, cancellationToken))!;
        Assert.That(sent.Id, Is.Not.EqualTo(letter.Message.Id).And.EqualTo(kept.Summary.ReplayedAs));
        Assert.That(
            (sent.Body.ReadText(), sent.ContentType, sent.Headers["x-mended"], sent.Headers["replay-of"], sent.ConversationId),
            Is.EqualTo(("mended", "text/markdown", "yes", letter.Message.Id.ToString(), letter.Message.ConversationId))
        );
        Assert.That(kept.Letter.Message.Body.ReadText(), Is.EqualTo("order 0"));
        var fields = Audit.Facts.Single().Fields;
        Assert.That(fields["replay-of"], Is.EqualTo(letter.Message.Id.ToString()));
        Assert.That(fields["edited-by"], Is.EqualTo(job.CreatedBy));
        Assert.That((fields["body-before"], fields["body-after"]), Is.EqualTo((DigestOf("order 0"), DigestOf("mended"))));
        Assert.That(fields["headers-changed"].Split(", "), Does.Contain("content-type").And.Contain("x-mended"));
    }

    [Test, CancelAfter(30_000)]
    public async Task Kept_edit_goes_instead_of_the_body_in_any_replay(CancellationToken cancellationToken)
    {
        var letters = await KeepAsync(2, cancellationToken);
        var edited = await Desk.EditAsync(
            letters[0].Id,
            new Esb.Core.Replays.EditedBody("mended"u8.ToArray(), "text/markdown"),
            DigestOf("order 0"),
            new OperatorDecision("ada", "a digit was missing"),
            cancellationToken
        );
        await StartRunnerAsync();

        var job = await ReplayAsync(All(), cancellationToken);
        await WaitForAsync(job.Id, now => now.IsOver, cancellationToken);

        var sent = Queues.Sent.ToDictionary(sent => sent.Message.Id, sent => sent.Message);
        var mended = sent[edited!.Edit!.MessageId];
        Assert.That(sent.Keys, Is.EquivalentTo([mended.Id, letters[1].Message.Id]));
        Assert.That(
            (mended.Body.ReadText(), mended.ContentType, mended.Headers["replay-of"]),
            Is.EqualTo(("mended", "text/markdown", letters[0].Message.Id.ToString()))
        );
        Assert.That((await Letters.GetAsync(letters[0].Id, cancellationToken))!.Summary.ReplayedAs, Is.EqualTo(mended.Id));
        var facts = Audit.Facts.ToLookup(fact => fact.Kind);
        var (edit, replay) = (facts[AuditKind.Recorded].Single(), facts[AuditKind.Replayed].Single(fact => fact.MessageId == mended.Id));
        foreach (var fact in new[] { edit, replay })
            Assert.That((fact.Fields["body-before"], fact.Fields["body-after"]), Is.EqualTo((DigestOf("order 0"), DigestOf("mended"))));
        Assert.That((edit.Name, edit.Fields["operator"], edit.Reason), Is.EqualTo(("dead-letter-edited", "ada", "a digit was missing")));
        Assert.That(replay.Fields["edited-by"], Is.EqualTo("ada"));
    }

    private static string DigestOf(string text) =>
        Convert.ToHexStringLower(System.Security.Cryptography.SHA256.HashData(System.Text.Encoding.UTF8.GetBytes(text)));

    [Test, CancelAfter(30_000)]
    public async Task Keys_keep_their_order_where_the_endpoint_does(CancellationToken cancellationToken)
    {
        var letters = await KeepAsync(60, cancellationToken, key: number => $"key-{number % 7}");
        Queues.Answer = async (_, message) =>
        {
            await Task.Delay(Random.Shared.Next(3), cancellationToken);
            return PublishResult.Confirmed;
        };
        await StartRunnerAsync();

        var job = await ReplayAsync(All() with { Redirect = "ledger", OutOfOrder = true }, cancellationToken);
        await WaitForAsync(job.Id, now => now.IsOver, cancellationToken);

        var sent = Queues.Sent.ToLookup(sent => sent.Message.Key, sent => sent.Message.Id);
        foreach (var key in letters.GroupBy(letter => letter.Message.Key, letter => letter.Message.Id))
            Assert.That(sent[key.Key], Is.EqualTo(key), key.Key);
        Assert.That(Queues.Sent.Select(sent => sent.Endpoint), Is.All.EqualTo("ledger"));
    }

    [Test, CancelAfter(30_000)]
    public async Task Job_stops_when_too_many_come_back_and_goes_on_when_told_so(CancellationToken cancellationToken)
    {
        var letters = (await KeepAsync(200, cancellationToken)).ToDictionary(letter => letter.Message.Id);
        Queues.Answer = async (_, message) =>
        {
            var letter = letters[message.Id];
            if (message.Body.ReadText().EndsWith('3'))
                await Letters.AddAsync(letter with { LastAttempt = letter.LastAttempt.AddHours(1) }, cancellationToken);
            return PublishResult.Confirmed;
        };
        await StartRunnerAsync();

        var job = await ReplayAsync(
            All() with
            {
                StopAtFailureShare = 0.05,
                BatchSize = 40,
                BatchPause = TimeSpan.FromMilliseconds(20),
            },
            cancellationToken
        );
        var stopped = await WaitForAsync(job.Id, now => now.State == ReplayState.Stopped, cancellationToken);
        Queues.Answer = null;
        await Desk.ChangeAsync(job.Id, ReplayState.Running, Decision, cancellationToken);
        var done = await WaitForAsync(job.Id, now => now.IsOver, cancellationToken);

        Assert.That((stopped.Replayed, stopped.Failed), Is.EqualTo((10, 1)), "the first batch showed it");
        Assert.That(stopped.Trouble, Does.Contain("came back"));
        Assert.That((done.State, done.Replayed, done.Failed), Is.EqualTo((ReplayState.Completed, 200, 1)));
        Assert.That(Queues.Sent.Select(sent => sent.Message.Id), Is.Unique);
    }

    [Test, CancelAfter(30_000), Property("Case", "T-RPL-3")]
    public async Task Paused_job_waits_and_resumes_where_it_was(CancellationToken cancellationToken)
    {
        var letters = await KeepAsync(100, cancellationToken);
        await StartRunnerAsync();

        var job = await ReplayAsync(All() with { Rate = 50 }, cancellationToken);
        await WaitForAsync(job.Id, now => now.Replayed >= 5, cancellationToken);
        await Desk.ChangeAsync(job.Id, ReplayState.Paused, Decision, cancellationToken);
        await Task.Delay(TimeSpan.FromSeconds(1.5), cancellationToken); // a group under way is finished
        var whilePaused = Queues.Sent.Count;
        await Task.Delay(300, cancellationToken);
        var later = Queues.Sent.Count;
        await Desk.ChangeAsync(job.Id, ReplayState.Running, Decision, cancellationToken);
        await WaitForAsync(job.Id, now => now.State == ReplayState.Completed, cancellationToken);

        Assert.That(whilePaused, Is.LessThan(100).And.EqualTo(later));
        Assert.That(Queues.Sent.Select(sent => sent.Message.Id), Is.EquivalentTo(letters.Select(letter => letter.Message.Id)));
    }

    [Test, CancelAfter(30_000), Property("Case", "T-RPL-3")]
    public async Task Cancelled_job_leaves_the_rest_open(CancellationToken cancellationToken)
    {
        await KeepAsync(40, cancellationToken);
        await StartRunnerAsync();

        var job = await ReplayAsync(All() with { Rate = 20 }, cancellationToken);
        await WaitForAsync(job.Id, now => now.Replayed >= 5, cancellationToken);
        await Desk.ChangeAsync(job.Id, ReplayState.Cancelled, Decision, cancellationToken);
        await StopRunnerAsync();

        var states = await StatesAsync(cancellationToken);
        Assert.That(states, Has.None.EqualTo(DeadLetterState.Replaying));
        Assert.That(states.Count(state => state == DeadLetterState.Open), Is.GreaterThan(0));
    }

    [Test, CancelAfter(30_000), Property("Case", "T-RPL-3")]
    public async Task Job_of_a_host_that_ended_goes_on_in_the_next_one(CancellationToken cancellationToken)
    {
        var letters = await KeepAsync(60, cancellationToken);
        await StartRunnerAsync();
        var job = await ReplayAsync(All() with { Rate = 40 }, cancellationToken);
        await WaitForAsync(job.Id, now => now.Replayed >= 10, cancellationToken);

        await ReopenAsync();
        var between = await StatesAsync(cancellationToken);
        await StartRunnerAsync();
        var done = await WaitForAsync(job.Id, now => now.IsOver, cancellationToken);

        Assert.That(between, Has.Some.EqualTo(DeadLetterState.Replayed).And.Some.EqualTo(DeadLetterState.Replaying));
        Assert.That((done.State, done.Replayed), Is.EqualTo((ReplayState.Completed, 60)));
        Assert.That(
            Queues.Sent.Select(sent => sent.Message.Id),
            Is.EquivalentTo(letters.Select(letter => letter.Message.Id)),
            "each once: the host could finish what was under way"
        );
    }

    [Test, CancelAfter(30_000)]
    public async Task Replay_is_a_trace_linked_to_the_original(CancellationToken cancellationToken)
    {
        var spans = new List<Activity>();
        using var listener = new ActivityListener
        {
            ShouldListenTo = source => source.Name == "Esb.Endpoints",
            Sample = (ref ActivityCreationOptions<ActivityContext> _) => ActivitySamplingResult.AllDataAndRecorded,
            ActivityStopped = span =>
            {
                lock (spans)
                    spans.Add(span);
            },
        };
        ActivitySource.AddActivityListener(listener);
        var letter = (await KeepAsync(1, cancellationToken, "called"))[0];
        await Letters.AddAsync(
            letter with
            {
                Endpoint = "shop",
                TraceParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            },
            cancellationToken
        );
        await StartRunnerAsync();

        var job = await ReplayAsync(All(), cancellationToken);
        await WaitForAsync(job.Id, now => now.IsOver, cancellationToken);

        lock (spans)
        {
            var span = spans.Single(span => span.GetTagItem("esb.replay.job") is Guid id && id == job.Id);
            Assert.That((span.DisplayName, span.Kind), Is.EqualTo(("replay shop", ActivityKind.Producer)));
            Assert.That(span.Links.Single().Context.TraceId.ToHexString(), Is.EqualTo("0af7651916cd43dd8448eb211c80319c"));
        }
    }
}
