using Esb.Core.Storage;
using Esb.Storage.Sql;
using Esb.Tests.Fakes;

namespace Esb.Tests.Storage.Sqlite;

/// <summary>What of the keys of requests outlives the process, and what goes with time.</summary>
[CancelAfter(30_000)]
public sealed class EmbeddedKeysTests
{
    private EmbeddedStore _embedded = null!;

    private IIdempotencyKeys Keys => _embedded.Store.IdempotencyKeys;

    [SetUp]
    public async Task Open() => await (_embedded = new EmbeddedStore()).OpenAsync(CancellationToken.None);

    [TearDown]
    public async Task Close() => await _embedded.DisposeAsync();

    [Test]
    public async Task Answer_outlives_the_process(CancellationToken cancellationToken)
    {
        await AnswerAsync(SomeKeys.Key, SomeKeys.Answer(), cancellationToken);

        await _embedded.ReopenAsync(cancellationToken);

        Assert.That(await ClaimAsync(SomeKeys.Key, "body", cancellationToken), Is.InstanceOf<KeyClaim.Answered>());
        Assert.That(await ClaimAsync(SomeKeys.Key, "other", cancellationToken), Is.InstanceOf<KeyClaim.Conflicting>());
    }

    [TestCase(null, 30)]
    [TestCase("shop", 60)]
    [TestCase(IdempotencyKey.Dedupe, 30)]
    public async Task Oldest_keys_of_a_client_go_as_new_ones_come(string? client, int most, CancellationToken cancellationToken)
    {
        var keys = new IdempotencyKeys(_embedded.Store.Tables, _embedded.Time)
        {
            MostKeysOfStrangers = 30,
            MostKeys = 60,
            TrimInterval = 10,
        };
        var other = new IdempotencyKey("invoices", client, "k-0");
        await keys.ClaimAsync(other, SomeKeys.HashOf("body"), cancellationToken);
        for (var number = 0; number < 100; number++)
        {
            _embedded.Time.Advance(TimeSpan.FromMilliseconds(1));
            await keys.ClaimAsync(new IdempotencyKey("orders", client, $"k-{number}"), SomeKeys.HashOf("body"), cancellationToken);
        }

        var first = await keys.ClaimAsync(
            new IdempotencyKey("orders", client, $"k-{99 - most}"),
            SomeKeys.HashOf("other"),
            cancellationToken
        );
        var kept = await keys.ClaimAsync(
            new IdempotencyKey("orders", client, $"k-{100 - most}"),
            SomeKeys.HashOf("other"),
            cancellationToken
        );
        var beside = await keys.ClaimAsync(other, SomeKeys.HashOf("other"), cancellationToken);

        Assert.That(first, Is.InstanceOf<KeyClaim.Granted>(), "forgotten");
        Assert.That(new[] { kept, beside }, Is.All.InstanceOf<KeyClaim.Conflicting>());
    }

    [Test]
    public async Task Key_of_a_process_that_died_at_work_is_free_for_the_same_body(CancellationToken cancellationToken)
    {
        await ClaimAsync(SomeKeys.Key, "body", cancellationToken);
        Assert.That(await ClaimAsync(SomeKeys.Key, "body", cancellationToken), Is.InstanceOf<KeyClaim.Running>());

        await _embedded.ReopenAsync(cancellationToken);

        Assert.That(await ClaimAsync(SomeKeys.Key, "other", cancellationToken), Is.InstanceOf<KeyClaim.Conflicting>());
        Assert.That(await ClaimAsync(SomeKeys.Key, "body", cancellationToken), Is.InstanceOf<KeyClaim.Granted>());
    }

    [Test]
    public async Task Answer_that_is_not_durable_ends_with_the_process(CancellationToken cancellationToken)
    {
        await AnswerAsync(SomeKeys.Key, SomeKeys.Answer(isDurable: false), cancellationToken);
        Assert.That(await ClaimAsync(SomeKeys.Key, "body", cancellationToken), Is.InstanceOf<KeyClaim.Answered>());

        await _embedded.ReopenAsync(cancellationToken);

        Assert.That(await ClaimAsync(SomeKeys.Key, "body", cancellationToken), Is.InstanceOf<KeyClaim.Granted>());
    }

    [TestCase(-1, true), TestCase(1, false), Property("Case", "T-DUP-4")]
    public async Task Key_is_remembered_for_seven_days(int minutesMore, bool isRemembered, CancellationToken cancellationToken)
    {
        await AnswerAsync(SomeKeys.Key, SomeKeys.Answer(), cancellationToken);

        _embedded.Time.Advance(TimeSpan.FromDays(7) + TimeSpan.FromMinutes(minutesMore));

        Assert.That(
            await ClaimAsync(SomeKeys.Key, "body", cancellationToken),
            isRemembered ? Is.InstanceOf<KeyClaim.Answered>() : Is.InstanceOf<KeyClaim.Granted>()
        );
    }

    [Test]
    public async Task Keys_leave_the_database_when_they_are_older(CancellationToken cancellationToken)
    {
        for (var i = 0; i < 20; i++)
            await AnswerAsync(SomeKeys.Key with { Value = $"k-{i}" }, SomeKeys.Answer(), cancellationToken);

        _embedded.Time.Advance(TimeSpan.FromDays(8));

        await Eventually.HoldsAsync(
            () => _embedded.Ask<long>("select count(*) from idempotency_key") == 0,
            "they are gone",
            cancellationToken
        );
    }

    private Task<KeyClaim> ClaimAsync(IdempotencyKey key, string body, CancellationToken cancellationToken) =>
        Keys.ClaimAsync(key, SomeKeys.HashOf(body), cancellationToken);

    private async Task AnswerAsync(IdempotencyKey key, RecordedAnswer answer, CancellationToken cancellationToken) =>
        await Keys.CompleteAsync((KeyClaim.Granted)await ClaimAsync(key, "body", cancellationToken), answer, cancellationToken);
}
