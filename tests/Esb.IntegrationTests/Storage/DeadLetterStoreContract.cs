using Esb.Core.Messages;
using Esb.Core.Storage;
using NUnit.Framework;

namespace Esb.IntegrationTests.Storage;

/// <summary>What every store of dead letters promises.</summary>
public abstract class DeadLetterStoreContract
{
    private static readonly DateTimeOffset Now = new(2026, 3, 1, 12, 0, 0, TimeSpan.Zero);

    private IDeadLetterStore _store = null!;

    protected abstract Task<IDeadLetterStore> OpenAsync();

    protected abstract Task CloseAsync();

    [SetUp]
    public async Task Open() => _store = await OpenAsync();

    [TearDown]
    public Task Close() => CloseAsync();

    [Test, CancelAfter(30_000)]
    public async Task A_letter_comes_back_whole(CancellationToken cancellationToken)
    {
        var letter = Letter() with { Reason = "It \0 says „no“.", ExceptionType = "System.TimeoutException" };
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

        var kept = (await ListAsync(10, cancellationToken)).Single();
        Assert.That(kept with { Message = letter.Message, Reason = letter.Reason }, Is.EqualTo(letter));
        Assert.That(kept.Reason, Does.StartWith("It ").And.EndsWith("says „no“."));
        Assert.That(kept.Message with { Headers = message.Headers, Body = message.Body }, Is.EqualTo(message));
        Assert.That(kept.Message.Headers, Is.EquivalentTo(message.Headers));
        Assert.That(kept.Message.Body.Bytes.ToArray(), Is.EqualTo(message.Body.Bytes.ToArray()));
    }

    [Test, CancelAfter(30_000)]
    public async Task The_same_message_of_the_same_endpoint_is_kept_once(CancellationToken cancellationToken)
    {
        var letter = Letter();

        await _store.AddAsync(letter, cancellationToken);
        await _store.AddAsync(letter with { Attempts = 9 }, cancellationToken);
        await _store.AddAsync(letter with { Endpoint = "other" }, cancellationToken);

        Assert.That((await ListAsync(10, cancellationToken)).Select(kept => (kept.Endpoint, kept.Attempts)), Is.EqualTo([("other", 3), ("orders-db", 3)]));
    }

    [Test, CancelAfter(30_000)]
    public async Task The_newest_come_first_up_to_the_limit(CancellationToken cancellationToken)
    {
        var letters = Enumerable.Range(0, 5).Select(_ => Letter()).ToList();
        foreach (var letter in letters) await _store.AddAsync(letter, cancellationToken);

        Assert.That((await ListAsync(3, cancellationToken)).Select(kept => kept.Message.Id), Is.EqualTo(letters.AsEnumerable().Reverse().Take(3).Select(letter => letter.Message.Id)));
    }

    [Test, CancelAfter(30_000)]
    public async Task Letters_that_come_at_the_same_time_are_all_kept(CancellationToken cancellationToken)
    {
        var letters = Enumerable.Range(0, 100).Select(_ => Letter()).ToList();

        await Task.WhenAll(letters.Concat(letters).Select(letter => _store.AddAsync(letter, cancellationToken)));

        Assert.That((await ListAsync(1000, cancellationToken)).Select(kept => kept.Message.Id), Is.EquivalentTo(letters.Select(letter => letter.Message.Id)));
    }

    private static DeadLetter Letter()
    {
        var id = Guid.CreateVersion7();
        var message = new EsbMessage { Id = id, ConversationId = id, CreatedAt = Now, Subject = "orders.accepted" };
        return new DeadLetter(message, "orders-db", "ESB-SQL-TIMEOUT", "The database did not answer.", null, 3, Now.AddSeconds(1), Now.AddSeconds(2));
    }

    private async Task<List<DeadLetter>> ListAsync(int limit, CancellationToken cancellationToken) =>
        await _store.ListAsync(limit, cancellationToken).ToListAsync(cancellationToken);
}
