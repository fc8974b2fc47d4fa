using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Tests.Fakes;
using NSubstitute;

namespace Esb.Tests.Delivery;

/// <summary>The line of a key is worked on in order once it is released.</summary>
public sealed class KeyedReleaseTests : KeyedDeliveryFixture
{
    [Test, CancelAfter(30_000)]
    public async Task Release_works_on_the_line_in_order_and_what_arrives_meanwhile_joins_its_end(CancellationToken cancellationToken)
    {
        await StartAsync(ByKey);
        Outside.Fails(isTransient: false);
        for (var i = 1; i <= 20; i++)
            await DeliverAsync("a", i, cancellationToken);
        await Store.ReleaseAsync("an-endpoint", "a", cancellationToken);

        await ReleaseAsync("a", cancellationToken);
        var afterFirst = Sent();
        await DeliverAsync("b", 100, cancellationToken);
        await DeliverAsync("a", 21, cancellationToken);
        await ReleaseAsync("a", cancellationToken);
        await DeliverAsync("a", 22, cancellationToken);

        Assert.That(
            afterFirst,
            Is.EqualTo("1 " + string.Join(' ', Enumerable.Range(1, 16))),
            "then the other keys of the lane have their turn"
        );
        Assert.That(Released(), Is.EqualTo(new[] { "a" }), "and the rest is asked for");
        Assert.That(Sent(), Is.EqualTo("1 " + string.Join(' ', Enumerable.Range(1, 16)) + " 100 17 18 19 20 21 22"));
        Assert.That(await LineAsync("a"), Is.Empty);
    }

    [TestCase(false, 0), TestCase(true, 32), CancelAfter(30_000), Property("Case", "XPT-11")]
    public async Task Message_that_an_operator_releases_begins_its_way_anew_and_one_that_waits_for_its_next_attempt_does_not(
        bool isTransient,
        int hops,
        CancellationToken cancellationToken
    )
    {
        await StartAsync(ByKey);
        Outside.Fails(times: 4, isTransient: isTransient);

        await DeliverAsync(Delivery(MessageHops.Set(Some.Message(key: "a"), hops: 32)) with { Source = Source }, cancellationToken);

        var parked = await Store.MessagesAsync("an-endpoint", "a", 0, 10, cancellationToken);
        Assert.That(MessageHops.Of(parked.Single().Message), Is.EqualTo(hops));
    }

    [Test, CancelAfter(30_000)]
    public async Task Message_that_is_given_up_while_its_line_is_released_becomes_a_dead_letter_and_the_line_goes_on(
        CancellationToken cancellationToken
    )
    {
        await StartAsync(
            ByKey with
            {
                OnFailure = FailureAction.DeadLetter,
                Retry = new RetryConfig { Immediate = 0, Delays = [TimeSpan.FromSeconds(10)] },
            }
        );
        Outside.Fails(times: 2);
        await DeliverAsync("a", 1, cancellationToken);
        await DeliverAsync("a", 2, cancellationToken);

        await ReleaseDueAsync(TimeSpan.FromSeconds(10), cancellationToken);

        await DeadLetters
            .Received(1)
            .AddAsync(
                Arg.Is<DeadLetter>(letter => letter.Message.Body.ReadText() == "1" && letter.Failures.Count == 2),
                Arg.Any<CancellationToken>()
            );
        Assert.That(Sent(), Is.EqualTo("1 1 2"));
        Assert.That(await LineAsync("a"), Is.Empty);
    }

    [Test, CancelAfter(30_000), Property("Case", "AUD-02")]
    public async Task Texts_about_a_message_of_the_line_are_without_what_is_masked_in_it(CancellationToken cancellationToken)
    {
        Audit.Mask = new SecretBodies();
        await StartAsync(ByKey);
        var text = "";
        Outside
            .Fails(isTransient: false)
            .Takes(_ =>
            {
                text = MaskedFlow.Clean("Key (card)=(4111) exists.");
                return Task.CompletedTask;
            });
        await DeliverAsync("a", 4111, cancellationToken);
        await Store.ReleaseAsync("an-endpoint", "a", cancellationToken);

        await ReleaseAsync("a", cancellationToken);

        Assert.That(text, Is.EqualTo("Key (card)=(****) exists."));
    }

    [Test, CancelAfter(30_000)]
    public async Task Release_that_comes_twice_or_too_early_does_nothing(CancellationToken cancellationToken)
    {
        await StartAsync(ByKey);
        Outside.Fails(times: 3);
        await DeliverAsync("a", 1, cancellationToken);

        await ReleaseAsync("a", cancellationToken);
        await ReleaseAsync("unknown", cancellationToken);

        Assert.That(Outside.Attempts, Has.Count.EqualTo(3));
        Assert.That(await LineAsync("a"), Is.EqualTo("1"));
    }

    [Test, CancelAfter(30_000)]
    public async Task Due_keys_are_sent_to_their_lane_once(CancellationToken cancellationToken)
    {
        await StartAsync(ByKey);
        Outside.Fails(times: 3);
        await DeliverAsync("a", 1, cancellationToken);

        Time.Advance(TimeSpan.FromSeconds(9));
        await Eventually.HoldsAsync(() => Time.Waiting > 0, "the timer runs", cancellationToken);
        var before = Released();
        for (var i = 0; i < 10; i++)
        {
            Time.Advance(TimeSpan.FromSeconds(1));
            await Task.Delay(5, cancellationToken);
        }

        await Eventually.HoldsAsync(() => Released().Count > 0, "it is released", cancellationToken);
        Assert.That(before, Is.Empty);
        Assert.That(Released(), Is.EqualTo(new[] { "a" }));
    }
}
