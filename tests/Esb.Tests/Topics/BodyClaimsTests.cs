using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Tests.Fakes;
using Esb.Topics.ClaimChecks;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Tests.Topics;

public sealed class BodyClaimsTests
{
    private static readonly LimitsConfig Limits = new() { ClaimCheck = new ByteSize(10) };

    private readonly HashSet<string> _whole = ["foreign"];

    [TestCase("orders.new", 11, true)]
    [TestCase("orders.new", 10, false)]
    [TestCase("foreign.new", 11, false)]
    [CancelAfter(30_000)]
    public async Task Bodies_above_the_threshold_are_kept_unless_their_topic_carries_them_whole(
        string subject,
        int length,
        bool isKept,
        CancellationToken cancellationToken
    )
    {
        var store = new Store();
        var message = Some.Message(new string('x', length), subject);

        var travelling = await Claims(store).CheckInAsync(message);
        var redeemed = await Claims(store).RedeemAsync(travelling, cancellationToken);

        Assert.That(
            (travelling.Body.Length == 0, travelling.Headers[EsbHeaders.Claim] is not null, store.Kept.Count),
            Is.EqualTo((isKept, isKept, isKept ? 1 : 0))
        );
        Assert.That((redeemed.Body.ReadText(), redeemed.Headers[EsbHeaders.Claim]), Is.EqualTo((message.Body.ReadText(), (string?)null)));
    }

    [Test]
    public async Task A_message_that_is_published_again_has_the_same_reference()
    {
        var store = new Store();
        var message = Some.Message(new string('x', 11), "orders.new");

        var first = await Claims(store).CheckInAsync(message);
        var again = await Claims(store).CheckInAsync(message with { Subject = "orders.other" });

        Assert.That((again.Headers[EsbHeaders.Claim], store.Kept.Count), Is.EqualTo((first.Headers[EsbHeaders.Claim], 1)));
    }

    [Test]
    public async Task A_store_that_is_away_lets_bodies_travel_whole_is_asked_again_after_a_while_and_told_of_once()
    {
        var (store, log, time) = (new Store { IsAway = true }, new LogLines(), new ManualTime());
        var claims = new BodyClaims(store, Limits, _whole.Contains, time, log.CreateLogger("topics"));
        var message = Some.Message(new string('x', 11), "orders.new");

        var whole = await claims.CheckInAsync(message);
        await claims.CheckInAsync(message);
        var asked = store.Asked;
        time.Advance(TimeSpan.FromSeconds(5));
        await claims.CheckInAsync(message);
        store.IsAway = false;
        time.Advance(TimeSpan.FromSeconds(5));
        var kept = await claims.CheckInAsync(message);

        Assert.That((whole.Body.Length, kept.Body.Length), Is.EqualTo((11, 0)));
        Assert.That((asked, store.Asked), Is.EqualTo((1, 3)));
        Assert.That(log.All.Count(line => line.Text.Contains("travel whole")), Is.EqualTo(1));
    }

    [Test, CancelAfter(30_000)]
    public async Task A_body_is_waited_for_while_its_store_is_away_but_not_for_ever(CancellationToken cancellationToken)
    {
        var (store, time) = (new Store(), new ManualTime());
        var claims = new BodyClaims(store, Limits, _whole.Contains, time, NullLogger.Instance);
        var travelling = await claims.CheckInAsync(Some.Message(new string('x', 11), "orders.new"));
        store.IsAway = true;

        var waiting = claims.AwaitAsync(travelling, cancellationToken).AsTask();
        time.Advance(TimeSpan.FromSeconds(1));
        var early = waiting.IsCompleted;
        store.IsAway = false;
        time.Advance(TimeSpan.FromSeconds(2));
        var message = await waiting;
        store.IsAway = true;
        var givenUp = claims.AwaitAsync(travelling, cancellationToken).AsTask();
        while (!givenUp.IsCompleted)
            time.Advance(TimeSpan.FromSeconds(5));

        Assert.That((early, message.Body.ReadText().Length), Is.EqualTo((false, 11)));
        Assert.That(async () => await givenUp, Throws.TypeOf<EsbException>().With.Property("IsTransient").True);
    }

    [TestCase("garbage")]
    [TestCase("0193a0b0-0000-7000-8000-000000000000.e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")]
    [CancelAfter(30_000)]
    public void A_reference_to_nothing_is_told(string reference, CancellationToken cancellationToken)
    {
        var message = Some.Message("") with { Headers = MessageHeaders.Empty.With(EsbHeaders.Claim, reference) };

        var failure = Assert.ThrowsAsync<EsbException>(async () => await Claims(new Store()).RedeemAsync(message, cancellationToken));

        Assert.That((failure!.Code, failure.IsTransient), Is.EqualTo(("ESB-CLAIM-GONE", false)));
    }

    private BodyClaims Claims(IClaimCheckStore store) => new(store, Limits, _whole.Contains, new ManualTime(), NullLogger.Instance);

    private sealed class Store : IClaimCheckStore
    {
        public Dictionary<ClaimTicket, byte[]> Kept { get; } = [];

        public bool IsAway { get; set; }

        public int Asked { get; private set; }

        public bool IsAvailable => true;

        public Task<ClaimTicket> PutAsync(ReadOnlyMemory<byte> body, CancellationToken cancellationToken)
        {
            Asked++;
            if (IsAway)
                return Task.FromException<ClaimTicket>(Away());
            var ticket = ClaimTicket.For(body, TimeProvider.System);
            Kept[ticket] = body.ToArray();
            return Task.FromResult(ticket);
        }

        public Task<MessageBody?> FindAsync(ClaimTicket ticket, CancellationToken cancellationToken) =>
            IsAway ? Task.FromException<MessageBody?>(Away()) : Task.FromResult(ticket.Redeem(Kept.GetValueOrDefault(ticket)));

        private static EsbException Away() => new("ESB-STORE-AWAY", "The store cannot be reached.", FaultKind.Unavailable);
    }
}
