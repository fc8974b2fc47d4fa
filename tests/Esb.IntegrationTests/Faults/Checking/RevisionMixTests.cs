namespace Esb.IntegrationTests.Faults.Checking;

/// <summary>The comparison of revisions with exchanges made by hand.</summary>
public sealed class RevisionMixTests
{
    private static readonly DateTimeOffset Noon = new(2026, 1, 1, 12, 0, 0, TimeSpan.Zero);

    [Test]
    public void During_an_exchange_either_revision_may_handle_a_message()
    {
        var mix = RevisionMix.Of("0", [Exchange("1", 10, 20)], [Message("0", 5), Message("0", 18), Message("1", 12), Message("1", 30)]);

        Assert.Multiple(() =>
        {
            Assert.That(mix.Strays, Is.Empty);
            Assert.That(mix.Mixes, Is.EqualTo(new[] { TimeSpan.FromSeconds(6) }));
        });
    }

    [Test]
    public void Message_that_the_earlier_revision_handles_afterwards_is_a_stray()
    {
        var mix = RevisionMix.Of("0", [Exchange("1", 10, 20), Exchange("2", 40, 50)], [Message("1", 15), Message("0", 23)]);

        Assert.That(mix.Strays.Single(), Is.EqualTo((Message("0", 23), TimeSpan.FromSeconds(3))));
    }

    [Test]
    public void Message_that_the_later_revision_handles_before_is_a_stray()
    {
        var mix = RevisionMix.Of("0", [Exchange("1", 10, 20)], [Message("1", 9)]);

        Assert.That(mix.Strays, Has.Count.EqualTo(1));
    }

    [Test]
    public void Message_that_was_on_its_way_when_the_exchange_began_is_none()
    {
        var message = new HandledMessage("a", "1", Noon.AddSeconds(9), Noon.AddSeconds(11));

        Assert.That(RevisionMix.Of("0", [Exchange("1", 10, 20)], [message]).Strays, Is.Empty);
    }

    [Test]
    public void Revision_that_was_taken_back_may_be_seen_before_and_after()
    {
        var mix = RevisionMix.Of(
            "0",
            [Exchange("1", 10, 20), Exchange("0", 30, 40), Exchange("2", 50, 60)],
            [Message("0", 5), Message("1", 21), Message("0", 45), Message("2", 65), Message("0", 25)]
        );

        Assert.That(mix.Strays.Single().Message, Is.EqualTo(Message("0", 25)));
    }

    [Test]
    public void Refused_revision_handles_nothing_unless_a_call_before_was_not_answered()
    {
        var refused = Exchange("1", 10, 20) with { IsDone = false };

        Assert.Multiple(() =>
        {
            Assert.That(RevisionMix.Of("0", [refused], [Message("1", 25)]).Strays, Has.Count.EqualTo(1));
            Assert.That(RevisionMix.Of("0", [refused with { IsUncertain = true }], [Message("1", 25)]).Strays, Is.Empty);
        });
    }

    private static SeenExchange Exchange(string mark, int from, int to) =>
        new(mark, Noon.AddSeconds(from), Noon.AddSeconds(to), IsDone: true);

    private static HandledMessage Message(string mark, int at) => new($"{mark}-{at}", mark, Noon.AddSeconds(at), Noon.AddSeconds(at));
}
