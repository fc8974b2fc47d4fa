using Esb.Core.Replays;
using Esb.Core.Storage;
using Esb.Storage;
using NUnit.Framework;
using static Esb.IntegrationTests.Storage.SomeLetters;

namespace Esb.IntegrationTests.Storage;

/// <summary>What every store of replay jobs promises.</summary>
public abstract class ReplayJobStoreContract
{
    private static readonly OperatorDecision Decision = new("ada", null);

    protected IReplayJobStore Jobs { get; private set; } = null!;

    protected IDeadLetterStore Letters { get; private set; } = null!;

    private protected abstract Task<Store> OpenAsync();

    private protected abstract Task<Store> ReopenAsync();

    protected abstract Task CloseAsync();

    [SetUp]
    public async Task Open() => Use(await OpenAsync());

    [TearDown]
    public Task Close() => CloseAsync();

    [Test, CancelAfter(60_000)]
    public async Task Job_takes_the_open_letters_that_its_filter_names_the_oldest_first(CancellationToken cancellationToken)
    {
        var letters = await KeepAsync(3, cancellationToken);
        await Letters.AddAsync(Letter("crm"), cancellationToken);
        await Letters.DiscardAsync(new() { Ids = [letters[1].Id] }, Decision, 1, cancellationToken);

        var job = await MakeJobAsync(new DeadLetterFilter { Endpoint = "orders-db" }, cancellationToken);

        var claim = (await Jobs.ClaimAsync("host", cancellationToken))!;
        Assert.That(job.Total, Is.EqualTo(2));
        Assert.That(
            (await Jobs.NextAsync(claim, 10, cancellationToken)).Select(letter => letter.Id),
            Is.EqualTo([letters[0].Id, letters[2].Id])
        );
        Assert.That(
            await Jobs.CreateAsync(Job(new DeadLetterFilter { Endpoint = "orders-db" }), cancellationToken),
            Is.Null,
            "nothing is left for another job"
        );
        Assert.That(
            await Letters.DiscardAsync(new() { Endpoint = "orders-db" }, Decision, 10, cancellationToken),
            Is.Empty,
            "nor for an operator"
        );
    }

    [Test, CancelAfter(60_000), Property("Case", "AUD-07")]
    public async Task Limited_job_takes_the_oldest_letters_and_leaves_the_rest(CancellationToken cancellationToken)
    {
        var letters = await KeepAsync(5, cancellationToken);
        var job = Job(new DeadLetterFilter());

        var made = await Jobs.CreateAsync(job with { Request = job.Request with { Limit = 2 } }, cancellationToken);

        var claim = (await Jobs.ClaimAsync("host", cancellationToken))!;
        Assert.That((made!.Total, claim.Job.Request.Limit), Is.EqualTo((2, 2)));
        Assert.That(
            (await Jobs.NextAsync(claim, 10, cancellationToken)).Select(letter => letter.Id),
            Is.EqualTo([letters[0].Id, letters[1].Id])
        );
        Assert.That((await MakeJobAsync(new DeadLetterFilter(), cancellationToken)).Total, Is.EqualTo(3));
    }

    [Test, CancelAfter(60_000)]
    public async Task The_same_command_makes_one_job(CancellationToken cancellationToken)
    {
        await KeepAsync(2, cancellationToken);
        var job = Job(new DeadLetterFilter());

        var first = await Jobs.CreateAsync(job, cancellationToken);
        var second = await Jobs.CreateAsync(job with { Id = Guid.CreateVersion7() }, cancellationToken);

        Assert.That(second!.Id, Is.EqualTo(first!.Id));
        Assert.That(await Jobs.ListAsync(null, 10, cancellationToken), Has.Count.EqualTo(1));
        Assert.That((await Jobs.FindAsync(job.Command, cancellationToken))!.Id, Is.EqualTo(first.Id));
        Assert.That(await Jobs.FindAsync("another", cancellationToken), Is.Null);
    }

    [Test, CancelAfter(60_000)]
    public async Task Job_that_was_half_done_goes_on_with_the_rest_after_the_end_of_the_process(CancellationToken cancellationToken)
    {
        var letters = await KeepAsync(4, cancellationToken);
        var job = await MakeJobAsync(new DeadLetterFilter(), cancellationToken);
        var claim = (await Jobs.ClaimAsync("first", cancellationToken))!;
        await Jobs.MarkAsync(claim, [letters[0].Id, letters[1].Id], cancellationToken);
        await Jobs.ReleaseAsync(claim, ReplayState.Running, null, cancellationToken);

        Use(await ReopenAsync());
        var again = (await Jobs.ClaimAsync("second", cancellationToken))!;
        var rest = await Jobs.NextAsync(again, 10, cancellationToken);
        await Jobs.MarkAsync(again, [.. rest.Select(letter => letter.Id)], cancellationToken);
        // what is marked already is not counted twice
        await Jobs.MarkAsync(again, [.. letters.Select(letter => letter.Id)], cancellationToken);
        await Jobs.ReleaseAsync(again, ReplayState.Completed, null, cancellationToken);

        var done = (await Jobs.GetAsync(job.Id, cancellationToken))!;
        Assert.That(rest.Select(letter => letter.Id), Is.EqualTo([letters[2].Id, letters[3].Id]));
        Assert.That((done.State, done.Total, done.Replayed, done.Failed), Is.EqualTo((ReplayState.Completed, 4, 4, 0)));
        Assert.That(done.ChangedAt, Is.Not.Null);
        Assert.That(await Jobs.ClaimAsync("third", cancellationToken), Is.Null);
        var kept = await FindAsync(new(), cancellationToken);
        Assert.That(
            kept.Select(letter => (letter.State, letter.Replays, letter.Job, letter.ReplayedTo)),
            Is.All.EqualTo((DeadLetterState.Replayed, 1, (Guid?)job.Id, "orders-db"))
        );
        Assert.That(kept.Select(letter => letter.ReplayedAs), Is.EqualTo(kept.Select(letter => (Guid?)letter.MessageId)));
    }

    [Test, CancelAfter(60_000)]
    public async Task Job_is_cancelled_while_its_letters_are_marked_and_come_back(CancellationToken cancellationToken)
    {
        for (var round = 0; round < 20; round++)
        {
            var letters = await KeepAsync(20, cancellationToken);
            var job = await MakeJobAsync(new DeadLetterFilter { Ids = [.. letters.Select(letter => letter.Id)] }, cancellationToken);
            var claim = (await Jobs.ClaimAsync("host", cancellationToken))!;

            await Task.WhenAll(
                letters
                    .Chunk(5)
                    .Select(some => Jobs.MarkAsync(claim, [.. some.Select(letter => letter.Id)], cancellationToken))
                    .Append(Letters.AddAsync(letters[^1].Again(), cancellationToken))
                    .Append(Jobs.ChangeAsync(job.Id, ReplayState.Cancelled, Decision, cancellationToken))
            );

            Assert.That((await Jobs.GetAsync(job.Id, cancellationToken))!.State, Is.EqualTo(ReplayState.Cancelled));
            Assert.That(await FindAsync(new() { State = DeadLetterState.Replaying }, cancellationToken), Is.Empty);
        }
    }

    [Test, CancelAfter(60_000)]
    public async Task Letter_that_comes_back_is_open_again_and_a_failure_of_its_job(CancellationToken cancellationToken)
    {
        var letters = await KeepAsync(3, cancellationToken);
        var job = await MakeJobAsync(new DeadLetterFilter(), cancellationToken);
        var claim = (await Jobs.ClaimAsync("host", cancellationToken))!;
        await Jobs.MarkAsync(claim, [letters[0].Id], cancellationToken);

        await Letters.AddAsync(letters[0].Again(), cancellationToken);
        await Letters.AddAsync(letters[1].Again(), cancellationToken); // sent, and back before it could be marked
        await Jobs.MarkAsync(claim, [letters[1].Id, letters[2].Id], cancellationToken);
        await Letters.AddAsync(letters[0].Again(2), cancellationToken); // failed once more, on another way
        Use(await ReopenAsync());

        var now = (await Jobs.GetAsync(job.Id, cancellationToken))!;
        var open = await FindAsync(new() { State = DeadLetterState.Open }, cancellationToken);
        Assert.That((now.Replayed, now.Failed), Is.EqualTo((3, 2)));
        Assert.That(
            open.Select(letter => (letter.Id, letter.Replays, letter.Job)),
            Is.EqualTo([(letters[0].Id, 1, (Guid?)job.Id), (letters[1].Id, 1, job.Id)])
        );
        Assert.That(await FindAsync(new() { Job = job.Id, State = DeadLetterState.Replayed }, cancellationToken), Has.Count.EqualTo(1));
    }

    [Test, CancelAfter(60_000)]
    public async Task Letter_that_comes_back_from_a_host_whose_clock_is_behind_is_open_again(CancellationToken cancellationToken)
    {
        var letters = await KeepAsync(2, cancellationToken);
        var job = await MakeJobAsync(new DeadLetterFilter(), cancellationToken);
        var claim = (await Jobs.ClaimAsync("host", cancellationToken))!;
        await Jobs.MarkAsync(claim, [.. letters.Select(letter => letter.Id)], cancellationToken);

        await Letters.AddAsync(letters[0].Again(-1), cancellationToken);
        await Letters.AddAsync(letters[1], cancellationToken); // the failure that is known, once more

        Assert.That(
            (await FindAsync(new() { State = DeadLetterState.Open }, cancellationToken)).Select(letter => letter.Id),
            Is.EqualTo([letters[0].Id])
        );
        Assert.That((await Jobs.GetAsync(job.Id, cancellationToken))!.Failed, Is.EqualTo(1));
    }

    [Test, CancelAfter(60_000)]
    public async Task Edited_or_redirected_letter_that_fails_counts_for_its_job_too(CancellationToken cancellationToken)
    {
        var edited = Letter();
        var redirected = Letter();
        await Letters.AddAsync(edited, cancellationToken);
        await Letters.AddAsync(redirected, cancellationToken);
        var first = await MakeJobAsync(
            new ReplayRequest
            {
                Letters = new() { Ids = [edited.Id] },
                Edit = new ReplayEdit { Body = "<ok/>"u8.ToArray() },
            },
            cancellationToken
        );
        var second = await MakeJobAsync(
            new ReplayRequest
            {
                Letters = new() { Ids = [redirected.Id] },
                Redirect = "crm",
            },
            cancellationToken
        );

        await Letters.AddAsync(edited with { Message = edited.Message with { Id = first.EditedId!.Value } }, cancellationToken);
        await Letters.AddAsync(redirected with { Endpoint = "crm" }, cancellationToken);

        Assert.That((await Jobs.GetAsync(first.Id, cancellationToken))!.Failed, Is.EqualTo(1));
        Assert.That((await Jobs.GetAsync(second.Id, cancellationToken))!.Failed, Is.EqualTo(1));
        Assert.That((await Letters.GetAsync(edited.Id, cancellationToken))!.Summary.ReplayedAs, Is.EqualTo(first.EditedId));
        Assert.That((await Letters.GetAsync(redirected.Id, cancellationToken))!.Summary.ReplayedTo, Is.EqualTo("crm"));
        Assert.That(
            (await Jobs.GetAsync(first.Id, cancellationToken))!.Request.Edit!.Body!.Value.ToArray(),
            Is.EqualTo("<ok/>"u8.ToArray())
        );
        Assert.That(await FindAsync(new(), cancellationToken), Has.Count.EqualTo(4), "both copies are kept");
    }

    [Test, CancelAfter(60_000)]
    public async Task Cancelling_opens_the_letters_that_were_not_sent(CancellationToken cancellationToken)
    {
        var letters = await KeepAsync(3, cancellationToken);
        var job = await MakeJobAsync(new DeadLetterFilter(), cancellationToken);
        var claim = (await Jobs.ClaimAsync("host", cancellationToken))!;
        await Jobs.MarkAsync(claim, [letters[0].Id], cancellationToken);

        var cancelled = await Jobs.ChangeAsync(job.Id, ReplayState.Cancelled, Decision, cancellationToken);
        var again = await Jobs.ChangeAsync(job.Id, ReplayState.Running, Decision, cancellationToken);

        Assert.That(
            (cancelled!.State, cancelled.ChangedBy, again!.State),
            Is.EqualTo((ReplayState.Cancelled, "ada", ReplayState.Cancelled))
        );
        Assert.That(await Jobs.NextAsync(claim, 10, cancellationToken), Is.Empty);
        Assert.That(
            (await FindAsync(new() { State = DeadLetterState.Open }, cancellationToken)).Select(letter =>
                (letter.Id, letter.Job, letter.ReplayedTo)
            ),
            Is.EqualTo([(letters[2].Id, (Guid?)null, (string?)null), (letters[1].Id, null, null)])
        );
        Assert.That(await Jobs.ChangeAsync(Guid.NewGuid(), ReplayState.Paused, Decision, cancellationToken), Is.Null);
    }

    [Test, CancelAfter(60_000)]
    public async Task Job_is_worked_on_by_one_at_a_time_and_by_nobody_while_it_is_paused(CancellationToken cancellationToken)
    {
        await KeepAsync(1, cancellationToken);
        var job = await MakeJobAsync(new DeadLetterFilter(), cancellationToken);
        var claim = (await Jobs.ClaimAsync("first", cancellationToken))!;
        var second = await Jobs.ClaimAsync("second", cancellationToken);

        await Jobs.ChangeAsync(job.Id, ReplayState.Paused, Decision, cancellationToken);
        var heard = await Jobs.RenewAsync(claim, "the broker is away", cancellationToken);
        await Jobs.ReleaseAsync(claim, ReplayState.Running, null, cancellationToken);
        var whilePaused = await Jobs.ClaimAsync("second", cancellationToken);
        await Jobs.ChangeAsync(job.Id, ReplayState.Running, Decision, cancellationToken);

        Assert.That(second, Is.Null);
        Assert.That(heard!.State, Is.EqualTo(ReplayState.Paused));
        Assert.That(whilePaused, Is.Null);
        Assert.That((await Jobs.ClaimAsync("second", cancellationToken))!.Job.Id, Is.EqualTo(job.Id));
    }

    [Test, CancelAfter(60_000)]
    public async Task Going_on_after_a_stop_forgives_what_failed_before(CancellationToken cancellationToken)
    {
        var letters = await KeepAsync(2, cancellationToken);
        var job = await MakeJobAsync(new DeadLetterFilter(), cancellationToken);
        var claim = (await Jobs.ClaimAsync("host", cancellationToken))!;
        await Jobs.MarkAsync(claim, [letters[0].Id], cancellationToken);
        await Letters.AddAsync(letters[0].Again(), cancellationToken);
        await Jobs.ReleaseAsync(claim, ReplayState.Stopped, "half of them came back", cancellationToken);

        var stopped = (await Jobs.GetAsync(job.Id, cancellationToken))!;
        var resumed = (await Jobs.ChangeAsync(job.Id, ReplayState.Running, Decision, cancellationToken))!;

        Assert.That(
            (stopped.State, stopped.Trouble, stopped.ChangedBy),
            Is.EqualTo((ReplayState.Stopped, "half of them came back", (string?)null))
        );
        Assert.That((resumed.Trouble, resumed.ReplayedBefore, resumed.FailedBefore), Is.EqualTo(((string?)null, 1, 1)));
    }

    protected async Task<IReadOnlyList<DeadLetter>> KeepAsync(int count, CancellationToken cancellationToken)
    {
        var letters = Enumerable.Range(0, count).Select(_ => Letter()).ToList();
        foreach (var letter in letters)
            await Letters.AddAsync(letter, cancellationToken);
        return letters;
    }

    protected Task<ReplayJob> MakeJobAsync(IReadOnlyList<DeadLetter> letters, CancellationToken cancellationToken) =>
        MakeJobAsync(new DeadLetterFilter { Ids = [.. letters.Select(letter => letter.Id)] }, cancellationToken);

    private static ReplayJob Job(DeadLetterFilter letters) => SomeLetters.Job(new ReplayRequest { Letters = letters });

    private Task<ReplayJob> MakeJobAsync(DeadLetterFilter letters, CancellationToken cancellationToken) =>
        MakeJobAsync(new ReplayRequest { Letters = letters }, cancellationToken);

    private async Task<ReplayJob> MakeJobAsync(ReplayRequest request, CancellationToken cancellationToken) =>
        (await Jobs.CreateAsync(SomeLetters.Job(request), cancellationToken))!;

    private void Use(Store store) => (Letters, Jobs) = (store.DeadLetters, store.ReplayJobs);

    private async Task<List<DeadLetterSummary>> FindAsync(DeadLetterFilter filter, CancellationToken cancellationToken) =>
        await Letters.FindAsync(new DeadLetterQuery { Filter = filter }, cancellationToken).ToListAsync(cancellationToken);
}
