using Esb.Core.Storage;
using Esb.Tests.Storage;

namespace Esb.IntegrationTests.Storage;

/// <summary>Keys of requests that several hosts share, and days that end.</summary>
[CancelAfter(60_000)]
public sealed class PostgresIdempotencyKeysTests
{
    private TestSchema _schema = null!;
    private IIdempotencyKeys _keys = null!;

    [SetUp]
    public async Task Start()
    {
        _schema = await TestSchema.StartAsync();
        _keys = _schema.Store.IdempotencyKeys;
    }

    [TearDown]
    public Task Remove() => _schema.DisposeAsync().AsTask();

    [Test]
    public async Task Hosts_share_their_keys(CancellationToken cancellationToken)
    {
        var other = await StartOtherHostAsync(cancellationToken);
        var claim = await ClaimAsync(_keys, cancellationToken);
        Assert.That(await ClaimAsync(other, cancellationToken), Is.InstanceOf<KeyClaim.Running>());

        await _keys.CompleteAsync((KeyClaim.Granted)claim, SomeKeys.Answer(), cancellationToken);

        Assert.That(await ClaimAsync(other, cancellationToken), Is.InstanceOf<KeyClaim.Answered>());
    }

    [Test]
    public async Task Claim_of_a_host_that_died_runs_out_unless_it_is_renewed(CancellationToken cancellationToken)
    {
        var other = await StartOtherHostAsync(cancellationToken);
        var claim = (KeyClaim.Granted)await ClaimAsync(_keys, cancellationToken);
        Assert.That(
            (await _schema.QueryAsync<double>("select extract(epoch from held_until - now()) from idempotency_key"))[0],
            Is.EqualTo(60).Within(15)
        );
        await RunOutAsync();
        await _keys.RenewAsync(claim, cancellationToken);
        Assert.That(await ClaimAsync(other, cancellationToken), Is.InstanceOf<KeyClaim.Running>());

        await RunOutAsync();

        Assert.That(await ClaimAsync(other, cancellationToken), Is.InstanceOf<KeyClaim.Granted>());
        await _keys.CompleteAsync(claim, SomeKeys.Answer(), cancellationToken); // it was not dead, but is too late
        Assert.That(await ClaimAsync(_keys, cancellationToken), Is.InstanceOf<KeyClaim.Running>());
    }

    [Test]
    public async Task Answer_that_is_not_durable_does_not_count_elsewhere(CancellationToken cancellationToken)
    {
        var other = await StartOtherHostAsync(cancellationToken);
        await _keys.CompleteAsync(
            (KeyClaim.Granted)await ClaimAsync(_keys, cancellationToken),
            SomeKeys.Answer(isDurable: false),
            cancellationToken
        );

        Assert.That(await ClaimAsync(other, cancellationToken), Is.InstanceOf<KeyClaim.Granted>());
    }

    [TestCase(-1, true), TestCase(1, false), Property("Case", "T-DUP-4")]
    public async Task Key_is_remembered_for_seven_days(int minutesMore, bool isRemembered, CancellationToken cancellationToken)
    {
        await _keys.CompleteAsync((KeyClaim.Granted)await ClaimAsync(_keys, cancellationToken), SomeKeys.Answer(), cancellationToken);

        await AgeAsync($"7 days {minutesMore} minutes");

        Assert.That(
            await ClaimAsync(_keys, cancellationToken),
            isRemembered ? Is.InstanceOf<KeyClaim.Answered>() : Is.InstanceOf<KeyClaim.Granted>()
        );
    }

    [Test]
    public async Task Days_that_are_over_are_dropped_and_others_stay(CancellationToken cancellationToken)
    {
        await ClaimAsync(_keys, cancellationToken);
        await AgeAsync("9 days");
        Assert.That(await PartitionsAsync(), Has.Member("idempotency_key_old"));
        await _schema.QueryAsync<int>(
            $"alter table idempotency_key_old rename to idempotency_key_{TimeProvider.System.GetUtcNow().AddDays(-9):yyyyMMdd}"
        );

        await StartOtherHostAsync(cancellationToken);

        var today = DateOnly.FromDateTime(TimeProvider.System.GetUtcNow().UtcDateTime);
        Assert.That(
            await PartitionsAsync(),
            Is.EquivalentTo(Enumerable.Range(-1, 9).Select(days => $"idempotency_key_{today.AddDays(days):yyyyMMdd}"))
        );
    }

    [Test]
    public async Task Partition_that_is_missing_is_made(CancellationToken cancellationToken)
    {
        foreach (var partition in await PartitionsAsync())
            await _schema.QueryAsync<int>($"drop table {partition}");

        Assert.That(await ClaimAsync(_keys, cancellationToken), Is.InstanceOf<KeyClaim.Granted>());
    }

    private static Task<KeyClaim> ClaimAsync(IIdempotencyKeys keys, CancellationToken cancellationToken) =>
        keys.ClaimAsync(SomeKeys.Key, SomeKeys.HashOf("body"), cancellationToken);

    private Task RunOutAsync() => _schema.QueryAsync<int>("update idempotency_key set held_until = now()");

    private async Task<IIdempotencyKeys> StartOtherHostAsync(CancellationToken cancellationToken)
    {
        var store = _schema.Open(Path.Combine(_schema.Config.Folder, "other"));
        await store.StartAsync(cancellationToken);
        return store.IdempotencyKeys;
    }

    private async Task AgeAsync(string age)
    {
        var old = TimeProvider.System.GetUtcNow().UtcDateTime.Date;
        await _schema.QueryAsync<int>(
            $"create table idempotency_key_old partition of idempotency_key for values from ('{old.AddDays(-10):yyyy-MM-dd} "
                + $"00:00+00') to ('{old.AddDays(-1):yyyy-MM-dd} 00:00+00')"
        );
        await _schema.QueryAsync<int>($"update idempotency_key set claimed_at = claimed_at - interval '{age}'");
    }

    private Task<IReadOnlyList<string>> PartitionsAsync() =>
        _schema.QueryAsync<string>(
            "select child.relname from pg_inherits join pg_class child on child.oid = inhrelid where inhparent = "
                + "'idempotency_key'::regclass"
        );
}
