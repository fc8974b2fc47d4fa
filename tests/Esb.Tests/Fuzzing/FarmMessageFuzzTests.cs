using System.Text.Json;
using Esb.Core.Topics;
using Esb.Tests.Fakes;
using Esb.Topics.Farm;
using Esb.Topics.RabbitMq.Farm;

namespace Esb.Tests.Fuzzing;

/// <summary>A changed message between hosts is never believed, and what a stranger says in a heartbeat breaks nothing.</summary>
public sealed class FarmMessageFuzzTests : Fuzzer
{
    private const int Whole = 100; // one of so many comes as it was sent, to be believed

    private static readonly FarmHost Self = new(Guid.NewGuid(), "self:1");

    private static readonly string[] Pieces =
    [
        "null",
        "{}",
        "[]",
        "[null]",
        "\"\"",
        "\"Patterns\":null,",
        "\\\"Patterns\\\":[null],",
        "\\\"Endpoint\\\":null,",
        "\"Host\":null,",
        "\"Body\":null,",
        "\"Kind\":null,",
        "\"Mac\":\"AAAA\",",
        "9223372036854775807",
        "1e999",
        ",",
        "{",
        "\\u0000",
        "\\ud800",
    ];

    private readonly ManualTime _time = new();
    private readonly FarmMembers _members;
    private readonly FarmSeal _seal;
    private readonly string[] _valid;
    private int _believed;
    private int _heard;

    public FarmMessageFuzzTests()
    {
        _members = new FarmMembers(Self, _time);
        _seal = new FarmSeal(new FarmKeys(new FarmConfig { Key = "key" }, () => null), "farm", _time);
        var receives = new[] { new FarmReceiver("one", ["orders.*", "#"], Guid.NewGuid()), new FarmReceiver("two", [], null) };
        _valid =
        [
            Write(FarmMessage.Heartbeat, JsonSerializer.Serialize(receives)),
            Write("TuneEndpoint", """{"Endpoint":"one","PoolSize":3}"""),
        ];
    }

    protected override void Round(Random random)
    {
        var valid = _valid[random.Next(_valid.Length)];
        var text = random.Next(Whole) == 0 ? valid : Broken.Text(random, valid, Pieces);
        try
        {
            if (JsonSerializer.Deserialize<FarmMessage>(text) is { IsComplete: true } message)
                Hear(message, JsonSerializer.Deserialize<FarmMessage>(valid)!);
        }
        catch (JsonException)
        {
            return; // is discarded
        }

        Assert.That(_members.ReceiversOf("one").Select(one => one.Receiver.Patterns), Has.None.Null);
    }

    protected override void AssertReach() => Assert.That((_believed > 0, _heard > 0), Is.EqualTo((true, true)));

    private void Hear(FarmMessage message, FarmMessage valid)
    {
        var isSame = message with { Mac = valid.Mac } == valid; // base64 has several texts for the same bytes
        if (_seal.Open(message) != FarmProof.Unproven)
        {
            Assert.That(isSame, Is.True, "a changed message is believed");
            _believed++;
        }

        if (message.Kind != FarmMessage.Heartbeat)
            return;
        _members.Hear(new FarmHost(message.From, message.Host), FarmReceiver.ReadAll(message.Body), isProven: false);
        _heard++;
    }

    private string Write(string kind, string body) =>
        JsonSerializer.Serialize(
            _seal.Close(
                new FarmMessage
                {
                    From = Guid.NewGuid(),
                    Host = "other:1",
                    Kind = kind,
                    Body = body,
                    Level = FarmMessage.CurrentLevel,
                }
            )
        );
}
