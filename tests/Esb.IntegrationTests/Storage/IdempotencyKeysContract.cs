using System.Text;
using Esb.Core.Storage;
using Esb.Tests.Storage;

namespace Esb.IntegrationTests.Storage;

/// <summary>What every store of idempotency keys does.</summary>
[CancelAfter(60_000)]
public abstract class IdempotencyKeysContract
{
    private static readonly IdempotencyKey Key = SomeKeys.Key;

    private IIdempotencyKeys _keys = null!;

    protected abstract Task<IIdempotencyKeys> OpenAsync();

    protected abstract Task CloseAsync();

    [SetUp]
    public async Task Open() => _keys = await OpenAsync();

    [TearDown]
    public Task Close() => CloseAsync();

    [TestCase("{}"), TestCase(""), TestCase(null)]
    public async Task Repetition_gets_the_answer_of_the_first(string? body, CancellationToken cancellationToken)
    {
        var first = await GrantAsync(Key, "body", cancellationToken);

        await _keys.CompleteAsync(first, SomeKeys.Answer(body, status: 299), cancellationToken);

        var answer = ((KeyClaim.Answered)await ClaimAsync(Key, "body", cancellationToken)).Answer;
        Assert.Multiple(() =>
        {
            Assert.That((answer.Status, answer.ContentType, answer.IsDurable), Is.EqualTo((299, "application/json", true)));
            Assert.That(answer.Headers, Is.EquivalentTo(new Dictionary<string, string> { ["x-a"] = "ä" }));
            Assert.That(answer.Body is { } bytes ? Encoding.UTF8.GetString(bytes.Span) : null, Is.EqualTo(body));
        });
    }

    [Test]
    public async Task Of_many_at_the_same_time_one_is_granted(CancellationToken cancellationToken)
    {
        var claims = await Task.WhenAll(
            Enumerable.Range(0, 40).Select(_ => Task.Run(() => ClaimAsync(Key, "body", cancellationToken), cancellationToken))
        );

        Assert.That(claims.OfType<KeyClaim.Granted>().Count(), Is.EqualTo(1));
        Assert.That(claims.OfType<KeyClaim.Running>().Count(), Is.EqualTo(39));
    }

    [Test, Property("Case", "HTP-22")]
    public async Task Other_body_is_a_conflict_while_the_first_runs_and_after_it_was_answered_or_released(
        CancellationToken cancellationToken
    )
    {
        var running = await GrantAsync(Key, "body", cancellationToken);
        Assert.That(await ClaimAsync(Key, "other", cancellationToken), Is.InstanceOf<KeyClaim.Conflicting>());

        await _keys.ReleaseAsync(running, cancellationToken);
        Assert.That(await ClaimAsync(Key, "other", cancellationToken), Is.InstanceOf<KeyClaim.Conflicting>());

        await _keys.CompleteAsync(await GrantAsync(Key, "body", cancellationToken), SomeKeys.Answer(), cancellationToken);
        Assert.That(await ClaimAsync(Key, "other", cancellationToken), Is.InstanceOf<KeyClaim.Conflicting>());
    }

    [Test]
    public async Task Keys_of_other_endpoints_and_clients_are_other_keys(CancellationToken cancellationToken)
    {
        await GrantAsync(Key, "body", cancellationToken);

        Assert.That(await ClaimAsync(Key with { Endpoint = "returns" }, "other", cancellationToken), Is.InstanceOf<KeyClaim.Granted>());
        Assert.That(await ClaimAsync(Key with { Client = "shop" }, "other", cancellationToken), Is.InstanceOf<KeyClaim.Granted>());
        Assert.That(await ClaimAsync(Key with { Value = "k-1 " }, "other", cancellationToken), Is.InstanceOf<KeyClaim.Granted>());
    }

    [Test]
    public async Task Released_key_is_granted_again_and_its_former_holder_is_not_heard_any_more(CancellationToken cancellationToken)
    {
        var former = await GrantAsync(Key, "body", cancellationToken);
        await _keys.ReleaseAsync(former, cancellationToken);

        var claim = await GrantAsync(Key, "body", cancellationToken);
        await _keys.RenewAsync(claim, cancellationToken);

        Assert.That(claim.Token, Is.Not.EqualTo(former.Token));
        await _keys.ReleaseAsync(former, cancellationToken);
        Assert.That(await ClaimAsync(Key, "body", cancellationToken), Is.InstanceOf<KeyClaim.Running>());
        await _keys.CompleteAsync(former, SomeKeys.Answer(status: 500), cancellationToken);
        Assert.That(await ClaimAsync(Key, "body", cancellationToken), Is.InstanceOf<KeyClaim.Running>());
        await _keys.CompleteAsync(claim, SomeKeys.Answer(), cancellationToken);
        Assert.That(((KeyClaim.Answered)await ClaimAsync(Key, "body", cancellationToken)).Answer.Status, Is.EqualTo(202));
    }

    [Test]
    public async Task Answer_that_is_not_durable_counts_in_the_process_that_gave_it(CancellationToken cancellationToken)
    {
        await _keys.CompleteAsync(await GrantAsync(Key, "body", cancellationToken), SomeKeys.Answer(isDurable: false), cancellationToken);

        Assert.That(await ClaimAsync(Key, "body", cancellationToken), Is.InstanceOf<KeyClaim.Answered>());
    }

    [TestCase("'; drop table idempotency_key; --"), TestCase("\"quoted\"")]
    public async Task Any_printable_key_is_a_key(string value, CancellationToken cancellationToken)
    {
        var key = Key with { Value = value };
        await _keys.CompleteAsync(await GrantAsync(key, "body", cancellationToken), SomeKeys.Answer(), cancellationToken);

        Assert.That(await ClaimAsync(key, "body", cancellationToken), Is.InstanceOf<KeyClaim.Answered>());
    }

    private Task<KeyClaim> ClaimAsync(IdempotencyKey key, string body, CancellationToken cancellationToken) =>
        _keys.ClaimAsync(key, SomeKeys.HashOf(body), cancellationToken);

    private async Task<KeyClaim.Granted> GrantAsync(IdempotencyKey key, string body, CancellationToken cancellationToken)
    {
        var claim = await ClaimAsync(key, body, cancellationToken);
        Assert.That(claim, Is.InstanceOf<KeyClaim.Granted>());
        return (KeyClaim.Granted)claim;
    }
}
