using System.Security.Cryptography;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Storage;
using NUnit.Framework;
using static Esb.IntegrationTests.Storage.SomeLetters;

namespace Esb.IntegrationTests.Storage;

/// <summary>What every store of dead letters promises.</summary>
public abstract class DeadLetterStoreContract
{
    private static readonly OperatorDecision Decision = new("ada", "paid by hand");

    private IDeadLetterStore _store = null!;

    private protected abstract Task<Store> OpenAsync();

    private protected abstract Task<Store> ReopenAsync();

    protected abstract Task CloseAsync();

    [SetUp]
    public async Task Open() => _store = (await OpenAsync()).DeadLetters;

    [TearDown]
    public Task Close() => CloseAsync();

    [Test, CancelAfter(60_000)]
    public async Task A_letter_comes_back_whole(CancellationToken cancellationToken)
    {
        var letter = Letter() with
        {
            Reason = "It \0 says „no“.",
            ExceptionType = "System.TimeoutException",
            TraceParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            Failures = [new FailedAttempt(Now, "ESB-A", "first"), new FailedAttempt(Now.AddSeconds(2), "ESB-B", "second")],
        };
        var message = letter.Message with
        {
            ContentType = "application/xml",
            CorrelationId = "c-1",
            Key = "customer-7",
            Party = "shop",
            Attempt = 4,
            Headers = MessageHeaders.From([new("x-order", "A-1001"), new("x-empty", "")]),
            Body = MessageBody.FromBytes(new byte[] { 0, 255, 60, 0 }),
        };

        await _store.AddAsync(letter with { Message = message }, cancellationToken);
        _store = (await ReopenAsync()).DeadLetters;

        var kept = (await _store.GetAsync(letter.Id, cancellationToken))!;
        Assert.That(kept.Letter with { Message = letter.Message, Reason = letter.Reason, Failures = letter.Failures }, Is.EqualTo(letter));
        Assert.That(kept.Letter.Failures, Is.EqualTo(letter.Failures));
        Assert.That(kept.Letter.Reason, Does.StartWith("It ").And.EndsWith("says „no“."));
        Assert.That(kept.Letter.Message with { Headers = message.Headers, Body = message.Body }, Is.EqualTo(message));
        Assert.That(kept.Letter.Message.Headers, Is.EquivalentTo(message.Headers));
        Assert.That(kept.Letter.Message.Body.Bytes.ToArray(), Is.EqualTo(message.Body.Bytes.ToArray()));
        Assert.That(kept.Summary, Is.EqualTo((await FindAsync(new(), cancellationToken)).Single()));
        Assert.That(
            (kept.Summary.BodyBytes, kept.Summary.State, kept.Summary.ChangedAt),
            Is.EqualTo((4, DeadLetterState.Open, (DateTimeOffset?)null))
        );
    }

    [Test, CancelAfter(60_000)]
    public async Task A_letter_with_a_key_as_long_as_a_broker_carries_is_kept_and_found(CancellationToken cancellationToken)
    {
        var key = Convert.ToHexString(RandomNumberGenerator.GetBytes(25_000)); // nothing of it can be packed
        var letter = Letter();

        await _store.AddAsync(letter with { Message = letter.Message with { Key = key } }, cancellationToken);
        await _store.AddAsync(Letter() with { Endpoint = "other", Message = letter.Message with { Key = key[..^1] } }, cancellationToken);

        Assert.That(
            (await FindAsync(new() { Key = key }, cancellationToken)).Select(found => (found.Id, found.Key)),
            Is.EqualTo([(letter.Id, key)])
        );
    }

    [Test, CancelAfter(60_000)]
    public async Task The_same_failure_of_the_same_endpoint_is_kept_once(CancellationToken cancellationToken)
    {
        var letter = Letter() with { LastAttempt = Now.AddTicks(7) }; // more exact than some stores are

        await _store.AddAsync(letter, cancellationToken);
        await _store.AddAsync(letter with { Attempts = 9 }, cancellationToken);
        await _store.AddAsync(letter with { Endpoint = "other" }, cancellationToken);

        Assert.That(
            (await FindAsync(new(), cancellationToken)).Select(kept => (kept.Endpoint, kept.Attempts)),
            Is.EqualTo([("other", 3), ("orders-db", 3)])
        );
    }

    [Test, CancelAfter(60_000)]
    public async Task A_newer_failure_opens_the_letter_again_as_the_newest_with_the_failures_of_all_times(
        CancellationToken cancellationToken
    )
    {
        var letter = Letter() with { Failures = [new FailedAttempt(Now, "ESB-SQL-TIMEOUT", "first")] };
        await _store.AddAsync(letter, cancellationToken);
        await _store.AddAsync(Letter(), cancellationToken);
        await _store.DiscardAsync(new() { Ids = [letter.Id] }, Decision, 10, cancellationToken);

        await _store.AddAsync(letter.Again(), cancellationToken);
        _store = (await ReopenAsync()).DeadLetters;

        var newest = (await FindAsync(new(), cancellationToken))[0];
        var kept = (await _store.GetAsync(letter.Id, cancellationToken))!.Letter;
        Assert.That(
            (newest.Id, newest.State, newest.Code, newest.Attempts, newest.Note),
            Is.EqualTo((letter.Id, DeadLetterState.Open, "ESB-SQL-CONSTRAINT", 4, (string?)null))
        );
        Assert.That((kept.FirstAttempt, kept.LastAttempt), Is.EqualTo((letter.FirstAttempt, letter.LastAttempt.AddMinutes(1))));
        Assert.That(kept.Failures.Select(failure => failure.Reason), Is.EqualTo(["first", "The row exists."]));
    }

    [Test, CancelAfter(60_000)]
    public async Task The_newest_come_first_page_by_page(CancellationToken cancellationToken)
    {
        var letters = Enumerable.Range(0, 5).Select(_ => Letter()).ToList();
        foreach (var letter in letters)
            await _store.AddAsync(letter, cancellationToken);

        var first = await _store.FindAsync(new DeadLetterQuery { Limit = 3 }, cancellationToken).ToListAsync(cancellationToken);
        await _store.AddAsync(Letter(), cancellationToken);
        var second = await _store
            .FindAsync(new DeadLetterQuery { Limit = 3, Before = first[^1].Number }, cancellationToken)
            .ToListAsync(cancellationToken);

        Assert.That(
            first.Concat(second).Select(kept => kept.MessageId),
            Is.EqualTo(letters.AsEnumerable().Reverse().Select(letter => letter.Message.Id))
        );
    }

    [Test, CancelAfter(60_000)]
    public async Task Letters_that_come_at_the_same_time_are_all_kept(CancellationToken cancellationToken)
    {
        var letters = Enumerable.Range(0, 100).Select(_ => Letter()).ToList();

        await Task.WhenAll(letters.Concat(letters).Select(letter => _store.AddAsync(letter, cancellationToken)));

        Assert.That(
            (await FindAsync(new(), cancellationToken)).Select(kept => kept.MessageId),
            Is.EquivalentTo(letters.Select(letter => letter.Message.Id))
        );
    }

    [Test, CancelAfter(60_000)]
    public async Task Letters_are_found_by_all_that_a_filter_names(CancellationToken cancellationToken)
    {
        var letter = Letter("crm", new string('.', 600) + "Connection REFUSED", key: "c-7") with
        {
            Code = "ESB-HTTP-STATUS",
            LastAttempt = Now.AddHours(1),
        };
        letter = letter with { Message = letter.Message with { Subject = "customers.eu.new" } };
        await _store.AddAsync(letter, cancellationToken);
        await _store.AddAsync(Letter(), cancellationToken);

        Assert.Multiple(async () =>
        {
            await FindsAsync(new() { Endpoint = "crm" });
            await FindsAsync(new() { Code = "ESB-HTTP-STATUS" });
            await FindsAsync(new() { Subject = "customers.eu.new" });
            await FindsAsync(new() { Subject = "customers.eu.#" });
            await FindsAsync(new() { Key = "c-7" });
            await FindsAsync(new() { MessageId = letter.Message.Id });
            await FindsAsync(new() { From = Now.AddHours(1) });
            await FindsAsync(
                new()
                {
                    From = Now.AddHours(1),
                    To = Now.AddHours(2),
                    State = DeadLetterState.Open,
                }
            );
            await FindsAsync(new() { Text = "connection refused" });
            await FindsAsync(new() { Ids = [letter.Id, Guid.NewGuid()] });
            Assert.That(await FindAsync(new() { Endpoint = "crm", To = Now.AddHours(1) }, cancellationToken), Is.Empty);
            Assert.That(await FindAsync(new() { Subject = "customers.e.#" }, cancellationToken), Is.Empty);
            Assert.That(await FindAsync(new() { State = DeadLetterState.Replayed }, cancellationToken), Is.Empty);
            Assert.That(await FindAsync(new() { Ids = [] }, cancellationToken), Is.Empty);
        });

        async Task FindsAsync(DeadLetterFilter filter) =>
            Assert.That((await FindAsync(filter, cancellationToken)).Select(found => found.Id), Is.EqualTo([letter.Id]), filter.ToString());
    }

    [Test, CancelAfter(60_000)]
    public async Task Letters_of_one_cause_are_one_group(CancellationToken cancellationToken)
    {
        for (var i = 0; i < 3; i++)
            await _store.AddAsync(
                Letter(reason: $"Order {Guid.NewGuid()} has no customer {i}.") with
                {
                    LastAttempt = Now.AddMinutes(i),
                },
                cancellationToken
            );
        await _store.AddAsync(Letter(reason: "The database did not answer."), cancellationToken);
        await _store.AddAsync(Letter("crm"), cancellationToken);

        var byCode = await _store.GroupAsync(new(), byCause: false, cancellationToken);
        var byCause = await _store.GroupAsync(new() { Endpoint = "orders-db" }, byCause: true, cancellationToken);

        Assert.That(
            byCode.Select(group => (group.Endpoint, group.Cause, group.Count)),
            Is.EqualTo([("orders-db", (string?)null, 4), ("crm", null, 1)])
        );
        Assert.That(
            byCause.Select(group => (group.Cause, group.Count)),
            Is.EqualTo([("Order # has no customer #.", 3), ("The database did not answer.", 1)])
        );
        Assert.That((byCause[0].Oldest, byCause[0].Newest), Is.EqualTo((Now, Now.AddMinutes(2))));
    }

    [Test, CancelAfter(60_000)]
    public async Task Discarded_letters_stay_and_say_who_gave_them_up_and_why(CancellationToken cancellationToken)
    {
        for (var i = 0; i < 3; i++)
            await _store.AddAsync(Letter(), cancellationToken);
        await _store.AddAsync(Letter("crm"), cancellationToken);

        var first = await _store.DiscardAsync(new() { Endpoint = "orders-db" }, Decision, 2, cancellationToken);
        var second = await _store.DiscardAsync(new() { Endpoint = "orders-db" }, Decision, 2, cancellationToken);
        var third = await _store.DiscardAsync(new() { Endpoint = "orders-db" }, Decision, 2, cancellationToken);
        _store = (await ReopenAsync()).DeadLetters;

        var kept = await FindAsync(new() { State = DeadLetterState.Discarded }, cancellationToken);
        Assert.That((first.Count, second.Count, third.Count), Is.EqualTo((2, 1, 0)));
        Assert.That(
            kept.Select(letter => (letter.Endpoint, letter.ChangedBy, letter.Note)),
            Is.EqualTo(Enumerable.Repeat(("orders-db", "ada", "paid by hand"), 3))
        );
        Assert.That(kept.Select(letter => letter.ChangedAt), Has.None.Null);
    }

    [Test, CancelAfter(60_000)]
    public async Task Edit_is_kept_beside_the_body_unless_another_one_came_first(CancellationToken cancellationToken)
    {
        var letter = Letter();
        await _store.AddAsync(letter, cancellationToken);
        var own = LetterEdit.DigestOf(letter.Message.Body.Bytes);
        var first = EditOf("{\"edited\":1}");
        var second = EditOf("{\"edited\":2}");

        var before = await _store.EditAsync(letter.Id, first, own, cancellationToken);
        var late = Assert.ThrowsAsync<EsbException>(() => _store.EditAsync(letter.Id, second, own, cancellationToken))!;
        _store = (await ReopenAsync()).DeadLetters;
        var kept = (await _store.GetAsync(letter.Id, cancellationToken))!;
        await _store.EditAsync(letter.Id, second, LetterEdit.DigestOf(first.Body), cancellationToken);
        var again = (await _store.GetAsync(letter.Id, cancellationToken))!;
        await _store.EditAsync(letter.Id, edit: null, LetterEdit.DigestOf(second.Body), cancellationToken);

        Assert.That(before!.Edit, Is.Null);
        Assert.That(late.Code, Is.EqualTo("ESB-LETTER-CHANGED"));
        Assert.That(late.Message, Does.Contain("ada"));
        Assert.That(kept.Letter.Message.Body.Bytes.ToArray(), Is.EqualTo(letter.Message.Body.Bytes.ToArray()));
        Assert.That(kept.CurrentBody.ToArray(), Is.EqualTo(first.Body.ToArray()));
        Assert.That(kept.Edit! with { Body = first.Body }, Is.EqualTo(first));
        Assert.That(again.CurrentBody.ToArray(), Is.EqualTo(second.Body.ToArray()));
        Assert.That((await _store.GetAsync(letter.Id, cancellationToken))!.Edit, Is.Null);
        Assert.That(await _store.EditAsync(Guid.NewGuid(), first, own, cancellationToken), Is.Null);
    }

    [Test, CancelAfter(60_000)]
    public async Task Of_operators_who_edit_at_the_same_time_one_is_heard(CancellationToken cancellationToken)
    {
        var letter = Letter();
        await _store.AddAsync(letter, cancellationToken);
        var own = LetterEdit.DigestOf(letter.Message.Body.Bytes);

        var heard = await Task.WhenAll(
            Enumerable
                .Range(0, 8)
                .Select(async number =>
                {
                    try
                    {
                        await _store.EditAsync(letter.Id, EditOf($"{number}"), own, cancellationToken);
                        return 1;
                    }
                    catch (EsbException ex) when (ex.Code == "ESB-LETTER-CHANGED")
                    {
                        return 0;
                    }
                })
        );

        Assert.That(heard.Sum(), Is.EqualTo(1));
    }

    private static LetterEdit EditOf(string body) =>
        new(Guid.NewGuid(), System.Text.Encoding.UTF8.GetBytes(body), "application/json", Now, "ada", "a digit was missing");

    private async Task<List<DeadLetterSummary>> FindAsync(DeadLetterFilter filter, CancellationToken cancellationToken) =>
        await _store.FindAsync(new DeadLetterQuery { Filter = filter, Limit = 1000 }, cancellationToken).ToListAsync(cancellationToken);
}
