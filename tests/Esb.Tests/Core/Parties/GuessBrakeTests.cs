using System.Net;
using Esb.Core.Parties;
using Esb.Tests.Fakes;

namespace Esb.Tests.Parties;

public sealed class GuessBrakeTests
{
    private static readonly IPAddress Guesser = IPAddress.Parse("192.0.2.1");

    private readonly ManualTime _time = new();

    [Test]
    public void An_address_that_is_wrong_too_often_waits_and_regains_a_try_each_second()
    {
        var brake = new GuessBrake(_time);
        for (var guess = 0; guess < GuessBrake.Burst; guess++)
        {
            Assert.That(brake.WaitOf(Guesser), Is.Null);
            brake.CountWrong(Guesser);
        }

        Assert.That(brake.WaitOf(Guesser), Is.EqualTo(GuessBrake.Interval));
        Assert.That(brake.WaitOf(IPAddress.Parse("192.0.2.2")), Is.Null, "another address");
        _time.Advance(GuessBrake.Interval * 1.01);
        Assert.That(brake.WaitOf(Guesser), Is.Null);
        brake.CountWrong(Guesser);
        brake.CountWrong(Guesser);
        Assert.That(brake.WaitOf(Guesser), Is.Not.Null);
    }

    [
        TestCase("2001:db8::1", "2001:db8::ffff:1", true),
        TestCase("2001:db8::1", "2001:db8:0:1::1", false),
        TestCase("::ffff:192.0.2.1", "192.0.2.1", true)
    ]
    public void Addresses_of_one_network_count_together(string one, string other, bool isSame)
    {
        var brake = new GuessBrake(_time);
        for (var guess = 0; guess < GuessBrake.Burst; guess++)
            brake.CountWrong(IPAddress.Parse(one));

        Assert.That(brake.WaitOf(IPAddress.Parse(other)) is not null, Is.EqualTo(isSame));
    }

    [Test]
    public void Many_addresses_push_out_the_one_that_was_wrong_longest_ago()
    {
        var brake = new GuessBrake(_time);
        for (var guess = 0; guess < GuessBrake.Burst; guess++)
            brake.CountWrong(Guesser);
        for (var number = 1; number < GuessBrake.MostAddresses; number++)
            brake.CountWrong(new IPAddress([10, 0, (byte)(number >> 8), (byte)number]));

        Assert.That(brake.WaitOf(Guesser), Is.Not.Null);
        brake.CountWrong(IPAddress.Parse("198.51.100.1"));
        Assert.That(brake.WaitOf(Guesser), Is.Null);
    }
}
