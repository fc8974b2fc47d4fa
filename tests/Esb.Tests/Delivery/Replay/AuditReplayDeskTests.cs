using System.Security.Cryptography;
using System.Text;
using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Processes;
using Esb.Core.Replays;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Delivery.Replay.Audited;
using Esb.Tests.Audit;
using Esb.Tests.Fakes;
using Microsoft.Extensions.Logging.Abstractions;
using NSubstitute;

namespace Esb.Tests.Delivery.Replay;

[CancelAfter(30_000), FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class AuditReplayDeskTests
{
    private static readonly Guid Message = Guid.Parse("01950000-0000-7000-8000-000000000001");
    private static readonly DateTimeOffset Time = new(2026, 3, 1, 12, 0, 0, TimeSpan.Zero);
    private static readonly OperatorDecision Decision = new("ada", "the shop is back");

    private readonly EndpointQueues _queues = new();
    private readonly AuditLog _audit = new();
    private readonly MemoryAuditStore _store = new();
    private readonly ITopicKeys _keys = Substitute.For<ITopicKeys>();
    private AuditReplayDesk _desk = null!;
    private int _facts;

    [SetUp]
    public void Open() =>
        _desk = new AuditReplayDesk(
            _store,
            ReplayFixture.SomeTargets(),
            new ReplayKeys(Live<ITopicKeys>.Always(_keys)),
            _queues,
            _audit,
            TimeProvider.System,
            NullLogger<AuditReplayDesk>.Instance
        );

    [TearDown]
    public void Close() => _desk.Dispose();

    [Test]
    public async Task Message_goes_to_the_queue_as_it_was_published_and_that_is_recorded(CancellationToken cancellationToken)
    {
        await KeepAsync(
            Fact(AuditKind.Received, "as it came") with
            {
                Process = "receive-order",
            },
            Fact(AuditKind.Published, "as published"),
            Fact(AuditKind.Delivered, "as delivered"),
            Fact(AuditKind.Replied, "an answer")
        );

        var replay = await ReplayAsync(Request(), cancellationToken);

        var (endpoint, message, kind) = _queues.Sent.Single();
        var fact = _audit.Facts.Single();
        using (Assert.EnterMultipleScope())
        {
            Assert.That(
                (endpoint, kind, message.Id, Encoding.UTF8.GetString(message.Body.Bytes.Span)),
                Is.EqualTo(("shop", DeliveryKind.Replay, Message, "as published"))
            );
            Assert.That(
                (message.Subject, message.ContentType, message.Party, message.Headers["x-shop"], message.Attempt),
                Is.EqualTo(("orders.new", "text/plain", "shop-7", "7", 0))
            );
            Assert.That(
                (fact.Kind, fact.Endpoint, fact.Reason, fact.Fields["operator"]),
                Is.EqualTo((AuditKind.Replayed, "shop", "the shop is back", "ada"))
            );
            Assert.That(
                (replay.MessageId, replay.Endpoint, replay.Fact.ToString()),
                Is.EqualTo((Message, "shop", fact.Fields["replayed-fact"]))
            );
        }
    }

    [Test, Property("Case", "XPT-11")]
    public async Task Message_that_went_in_circles_begins_its_way_anew(CancellationToken cancellationToken)
    {
        await KeepAsync(
            Fact(AuditKind.Published, "as published") with
            {
                Headers = new Dictionary<string, string> { ["x-shop"] = "7", ["esb-hops"] = "32" },
            }
        );

        await ReplayAsync(Request(), cancellationToken);

        Assert.That(_queues.Sent.Single().Message.Headers.Select(header => header.Key), Is.EqualTo(new[] { "x-shop" }));
    }

    [Test]
    public async Task Body_as_it_came_in_serves_where_no_process_could_change_it(CancellationToken cancellationToken)
    {
        await KeepAsync(Fact(AuditKind.Received, "as it came") with { Subject = null }, Fact(AuditKind.Published, null));

        await ReplayAsync(Request(), cancellationToken);

        var message = _queues.Sent.Single().Message;
        Assert.That((Encoding.UTF8.GetString(message.Body.Bytes.Span), message.Subject), Is.EqualTo(("as it came", "orders.new")));
    }

    [Test]
    public async Task Operator_may_choose_another_fact(CancellationToken cancellationToken)
    {
        var recorded = Fact(AuditKind.Recorded, "half way") with { Process = "receive-order" };
        await KeepAsync(Fact(AuditKind.Published, "as published"), recorded);

        await ReplayAsync(Request() with { Fact = recorded.Id }, cancellationToken);

        Assert.That(Encoding.UTF8.GetString(_queues.Sent.Single().Message.Body.Bytes.Span), Is.EqualTo("half way"));
        Assert.That(
            () => ReplayAsync(Request() with { Fact = Guid.NewGuid(), Again = true }, cancellationToken),
            Refuses(409, "it has no fact")
        );
    }

    [Test, Property("Case", "AUD-06")]
    public void Unknown_message_is_refused(CancellationToken cancellationToken) =>
        Assert.That(() => ReplayAsync(Request(), cancellationToken), Refuses(404, "Nothing is recorded of a message"));

    [Test, Property("Case", "AUD-06")]
    public async Task Body_that_was_not_recorded_is_refused(CancellationToken cancellationToken)
    {
        var fact = Fact(AuditKind.Published, null);
        await KeepAsync(fact);

        Assert.That(() => ReplayAsync(Request(), cancellationToken), Refuses(409, "its body was not recorded as it was published"));
        Assert.That(
            () => ReplayAsync(Request() with { Fact = fact.Id }, cancellationToken),
            Refuses(409, "its body was not recorded there")
        );
    }

    [
        TestCase(AuditBodyState.Masked, "a masked body cannot be replayed from audit"),
        TestCase(AuditBodyState.Erased, "its body was erased"),
        TestCase(AuditBodyState.Truncated, "only the first 4 of 4000000 bytes of its body were recorded"),
        TestCase((AuditBodyState)99, "its body was withheld"),
        Property("Case", "AUD-06")
    ]
    public async Task Body_that_is_not_there_as_it_was_is_refused_and_why(
        AuditBodyState state,
        string reason,
        CancellationToken cancellationToken
    )
    {
        await KeepAsync(Fact(AuditKind.Published, "part") with { BodyState = state, BodyLength = 4_000_000, BodyHash = null });

        Assert.That(() => ReplayAsync(Request(), cancellationToken), Refuses(409, reason));
        Assert.That(_queues.Sent, Is.Empty);
    }

    [Test, Property("Case", "AUD-06")]
    public async Task Body_that_has_expired_or_is_damaged_is_refused(CancellationToken cancellationToken)
    {
        await KeepAsync(Fact(AuditKind.Published, "whole") with { Body = null });
        Assert.That(() => ReplayAsync(Request(), cancellationToken), Refuses(409, "its body has expired"));

        await KeepAsync(Fact(AuditKind.Published, "whole") with { Body = "other"u8.ToArray() });
        Assert.That(() => ReplayAsync(Request(), cancellationToken), Refuses(409, "its recorded body is damaged"));
    }

    [Test, Property("Case", "AUD-06")]
    public async Task Message_that_was_replayed_there_needs_a_word_also_before_the_store_shows_it(CancellationToken cancellationToken)
    {
        await KeepAsync(Fact(AuditKind.Published, "order"));
        await ReplayAsync(Request(), cancellationToken);

        Assert.That(() => ReplayAsync(Request(), cancellationToken), Refuses(409, "was replayed to 'shop' already"));
        await ReplayAsync(Request() with { Again = true }, cancellationToken);
        Assert.That(_queues.Sent, Has.Count.EqualTo(2));

        await _store.AppendAsync(_audit.Facts, cancellationToken);
        Open(); // another host
        Assert.That(() => ReplayAsync(Request(), cancellationToken), Refuses(409, "by ada"));
    }

    [Test]
    public async Task Same_command_sends_once(CancellationToken cancellationToken)
    {
        await KeepAsync(Fact(AuditKind.Published, "order"));
        var request = Request() with { Command = "monday", Again = true };

        var replays = await Task.WhenAll(ReplayAsync(request, cancellationToken), ReplayAsync(request, cancellationToken));

        Assert.That(_queues.Sent, Has.Count.EqualTo(1));
        Assert.That(replays[1], Is.EqualTo(replays[0]));
    }

    [TestCase("gone", "ESB-REPLAY-ENDPOINT"), TestCase("called", "ESB-REPLAY-ENDPOINT"), TestCase("ledger", "ESB-REPLAY-ORDER")]
    public async Task Endpoint_that_cannot_take_it_is_refused(string endpoint, string code, CancellationToken cancellationToken)
    {
        await KeepAsync(Fact(AuditKind.Published, "order"));

        Assert.That(
            () => ReplayAsync(Request() with { Endpoint = endpoint }, cancellationToken),
            Throws.TypeOf<EsbException>().With.Property("Code").EqualTo(code)
        );
    }

    [Test]
    public async Task Order_key_is_made_of_the_message_again(CancellationToken cancellationToken)
    {
        _keys.KeyOf(Arg.Any<Subject>(), Arg.Any<MessageContext>()).Returns(call => $"c-{call.Arg<MessageContext>().Message.Body.Length}");
        await KeepAsync(Fact(AuditKind.Published, "order"));

        await ReplayAsync(Request() with { Endpoint = "ledger", OutOfOrder = true }, cancellationToken);

        Assert.That(_queues.Sent.Single().Message.Key, Is.EqualTo("c-5"));
    }

    [Test]
    public async Task What_is_not_confirmed_is_not_recorded_and_may_be_asked_for_again(CancellationToken cancellationToken)
    {
        await KeepAsync(Fact(AuditKind.Published, "order"));
        _queues.Answer = (_, _) => Task.FromResult(PublishResult.Refused("the queue is full"));

        Assert.That(
            () => ReplayAsync(Request(), cancellationToken),
            Throws.TypeOf<EsbException>().With.Property("Code").EqualTo("ESB-RPL-UNCONFIRMED")
        );
        Assert.That(_audit.Facts, Is.Empty);
        _queues.Answer = null;
        Assert.That(async () => await ReplayAsync(Request(), cancellationToken), Throws.Nothing);
    }

    private static AuditReplayRequest Request() => new() { MessageId = Message, Endpoint = "shop" };

    private Task<AuditReplay> ReplayAsync(AuditReplayRequest request, CancellationToken cancellationToken) =>
        _desk.ReplayAsync(request, Decision, cancellationToken);

    private Task KeepAsync(params AuditFact[] facts) => _store.AppendAsync(facts, CancellationToken.None);

    private AuditFact Fact(AuditKind kind, string? body) =>
        new()
        {
            Id = Guid.CreateVersion7(Time.AddSeconds(_facts++)),
            Kind = kind,
            Time = Time,
            MessageId = Message,
            ConversationId = Message,
            Endpoint = "orders-in",
            Subject = "orders.new",
            ContentType = "text/plain",
            Party = "shop-7",
            Headers = new Dictionary<string, string> { ["x-shop"] = "7" },
            Body = body is null ? null : (ReadOnlyMemory<byte>?)Encoding.UTF8.GetBytes(body),
            BodyState = body is null ? null : AuditBodyState.Whole,
            BodyLength = body?.Length,
            BodyHash = body is null ? null : (ReadOnlyMemory<byte>?)SHA256.HashData(Encoding.UTF8.GetBytes(body)),
        };

    private static NUnit.Framework.Constraints.Constraint Refuses(int status, string reason) =>
        Throws
            .TypeOf<EsbException>()
            .With.Property("Code")
            .EqualTo("ESB-RPL-STATE")
            .And.Property("Status")
            .EqualTo(status)
            .And.Message.Contains(reason);
}
