using Esb.Core.Topics;
using Esb.Tests.Fakes;
using Esb.Topics.RabbitMq.Farm;
using NUnit.Framework;

namespace Esb.Tests.Topics.RabbitMq.Farm;

public sealed class FarmMembersTests
{
    private static readonly FarmHost Self = new(Guid.NewGuid(), "self");
    private static readonly FarmHost Other = new(Guid.NewGuid(), "other");

    private ManualTime _time = null!;
    private FarmMembers _members = null!;
    private int _changes;

    [SetUp]
    public void MakeMembers()
    {
        _time = new ManualTime();
        _members = new FarmMembers(Self, _time);
        _changes = 0;
        _members.Changed += () => _changes++;
    }

    [Test]
    public void Host_is_a_member_of_its_own_farm_before_it_hears_anything() => Assert.That(_members.Hosts, Is.EqualTo(new[] { Self }));

    [Test]
    public void News_are_told_once_and_repetitions_are_none()
    {
        for (var i = 0; i < 3; i++)
            _members.Hear(Other, [Receiver("orders-out")], isProven: true);

        Assert.That(_changes, Is.EqualTo(1));
        Assert.That(_members.ReceiversOf("orders-out").Select(receiver => receiver.Host), Is.EqualTo(new[] { Other.Id }));
    }

    [Test]
    public void Host_that_begins_to_consume_anew_is_news()
    {
        _members.Hear(Other, [Receiver("orders-out", Guid.NewGuid())], isProven: true);
        _members.Hear(Other, [Receiver("orders-out", Guid.NewGuid())], isProven: true);

        Assert.That(_changes, Is.EqualTo(2));
    }

    [Test]
    public void Host_knows_all_others_once_it_has_listened_for_longer_than_they_are_silent()
    {
        var before = _members.KnowsAll;
        _members.Hear(Self, [], isProven: true);
        var atOnce = _members.KnowsAll;
        _time.Advance(FarmMembers.Interval + FarmMembers.Interval);
        _members.Hear(Self, [], isProven: true);

        Assert.That((before, atOnce, _members.KnowsAll), Is.EqualTo((false, false, true)));
    }

    [Test]
    public void Host_that_says_nothing_is_missed_after_seven_seconds()
    {
        _members.Hear(Other, [], isProven: true);
        for (var second = 0; second < 7; second++)
            HearSelfAfterASecond();
        var before = _members.Hosts;
        HearSelfAfterASecond();

        Assert.That(before, Has.Count.EqualTo(2));
        Assert.That(_members.Hosts, Is.EqualTo(new[] { Self }));
    }

    [Test]
    public void Who_does_not_even_hear_itself_misses_nobody()
    {
        _members.Hear(Self, [], isProven: true);
        _members.Hear(Other, [], isProven: true);

        _time.Advance(TimeSpan.FromMinutes(1));
        _members.Sweep();

        Assert.That(_members.Hosts, Has.Count.EqualTo(2));
        Assert.That(_members.HearingFor, Is.EqualTo(TimeSpan.Zero));
    }

    [Test]
    public void Who_is_cut_off_misses_nobody_although_it_heard_the_others_before_itself()
    {
        _members.Hear(Self, [], isProven: true);
        _members.Hear(Other, [], isProven: true);
        _time.Advance(FarmMembers.Interval);
        _members.Hear(Self, [], isProven: true); // the last that gets through

        for (var i = 0; i < 100; i++)
        {
            _time.Advance(TimeSpan.FromMilliseconds(100));
            _members.Sweep();
        }

        Assert.That(_members.Hosts, Is.EquivalentTo(new[] { Self, Other }));
    }

    [Test]
    public void Goodbye_is_believed_at_once_but_not_ones_own()
    {
        _members.Hear(Other, [], isProven: true);

        _members.Leave(Other.Id, isProven: true);
        _members.Leave(Self.Id, isProven: true);

        Assert.That(_members.Hosts, Is.EqualTo(new[] { Self }));
    }

    [Test]
    public void What_this_host_receives_is_what_it_says_itself_not_an_echo_of_earlier()
    {
        _members.Receive([Receiver("orders-out")]);

        _members.Hear(Self, [], isProven: true);

        Assert.That(_members.ReceiversOf("orders-out"), Has.Count.EqualTo(1));
    }

    private void HearSelfAfterASecond()
    {
        _members.Hear(Self, [], isProven: true);
        _time.Advance(TimeSpan.FromSeconds(1));
        _members.Sweep();
    }

    private static FarmReceiver Receiver(string endpoint, Guid? epoch = null) => new(endpoint, ["orders.#"], epoch);
}
