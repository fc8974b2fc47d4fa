using Esb.Tests.Fakes;
using Esb.Topics.Farm;
using Esb.Topics.RabbitMq.Farm;

namespace Esb.Tests.Topics.RabbitMq.Farm;

/// <summary>Which messages between hosts are believed.</summary>
public sealed class FarmSealTests
{
    private readonly ManualTime _time = new();

    [Test]
    public void A_message_of_a_host_with_the_key_is_believed_once()
    {
        var (one, other) = (Seal("k1"), Seal("k1"));
        var message = one.Close(Command());

        Assert.That(new[] { other.Open(message), other.Open(message) }, Is.EqualTo(new[] { FarmProof.Proven, FarmProof.Repeated }));
    }

    [TestCase(-31, false), TestCase(-29, true), TestCase(29, true), TestCase(31, false)]
    public void A_signature_holds_for_30_seconds(int seconds, bool isProven)
    {
        var later = new ManualTime();
        var message = Seal("k1").Close(Command());
        later.Advance(_time.GetUtcNow() - later.GetUtcNow() + TimeSpan.FromSeconds(60));
        var sender = new FarmSeal(KeysOf("k1"), "farm", later);
        _time.Advance(TimeSpan.FromSeconds(60 - seconds));

        Assert.That(Seal("k1").Open(sender.Close(message)) == FarmProof.Proven, Is.EqualTo(isProven));
    }

    [Test]
    public void Nothing_of_a_signed_message_can_be_changed()
    {
        var message = Seal("k1").Close(Command());
        var seal = Seal("k1");
        FarmMessage[] forged =
        [
            message with
            {
                Body = "{\"Endpoint\":\"other\"}",
            },
            message with
            {
                Kind = "DiscardAll",
            },
            message with
            {
                From = Guid.NewGuid(),
            },
            message with
            {
                Host = "other",
            },
            message with
            {
                Level = 7,
            },
            message with
            {
                Time = message.Time + 1,
            },
            message with
            {
                Nonce = Guid.NewGuid(),
            },
            message with
            {
                Mac = "AAAA",
            },
            message with
            {
                Mac = null,
            },
        ];

        Assert.That(forged.Select(seal.Open), Is.All.EqualTo(FarmProof.Unproven));
        Assert.That(new FarmSeal(KeysOf("k1"), "other farm", _time).Open(message), Is.EqualTo(FarmProof.Unproven));
        Assert.That(seal.Open(message), Is.EqualTo(FarmProof.Proven));
    }

    [Test]
    public void A_key_is_replaced_host_by_host()
    {
        var (old, between, renewed) = (Seal("k1"), Seal("k2", previous: "k1"), Seal("k2"));

        Assert.That(between.Open(old.Close(Command())), Is.EqualTo(FarmProof.Proven));
        Assert.That(between.Open(renewed.Close(Command())), Is.EqualTo(FarmProof.Proven));
        Assert.That(renewed.Open(between.Close(Command())), Is.EqualTo(FarmProof.Proven));
        Assert.That(renewed.Open(old.Close(Command())), Is.EqualTo(FarmProof.Unproven));
    }

    [Test]
    public void Without_a_key_nothing_is_signed_and_nothing_believed()
    {
        var none = new FarmSeal(FarmKeys.None, "farm", _time);

        Assert.That(none.Close(Command()).Mac, Is.Null);
        Assert.That(none.Open(Seal("k1").Close(Command())), Is.EqualTo(FarmProof.Unproven));
    }

    private FarmSeal Seal(string key, string? previous = null) => new(KeysOf(key, previous), "farm", _time);

    private static FarmKeys KeysOf(string key, string? previous = null) =>
        new(new FarmConfig { Key = key, PreviousKey = previous }, () => null);

    private static FarmMessage Command() =>
        new()
        {
            From = Guid.NewGuid(),
            Host = "host:1",
            Kind = "TuneEndpoint",
            Body = "{}",
            Level = 1,
        };
}
