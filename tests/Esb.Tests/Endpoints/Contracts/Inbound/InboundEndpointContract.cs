using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Schedules;
using Esb.Delivery.Intake.Holds;
using Esb.Tests.Endpoints.Files;
using Esb.Tests.Fakes;

namespace Esb.Tests.Endpoints.Contracts.Inbound;

/// <summary>What a sender learns of its message.</summary>
internal enum SenderVerdict
{
    /// <summary>The bus has it: the sender need not keep it.</summary>
    Accepted,

    /// <summary>It will never be taken.</summary>
    Refused,

    /// <summary>It was not taken, and may be sent again.</summary>
    TryAgain,
}

/// <summary>What an external system and the bus rely on at an inbound endpoint, whatever the protocol. Each type of inbound endpoint
/// inherits it, but for <c>timer-inbound</c>, to which nobody sends: its tests are those of its ticks.</summary>
[CancelAfter(60_000)]
internal abstract class InboundEndpointContract
{
    /// <summary>The most that a body may have here.</summary>
    protected const int MaxBodyBytes = SomeFiles.MaxBodyBytes;

    /// <summary>Messages that the endpoint works on at once.</summary>
    protected const int AtOnce = 3;

    /// <summary>Messages that it really works on at once: fewer where one unit of work has several.</summary>
    protected virtual int WorkedOnAtOnce => AtOnce;

    /// <summary>What the sender put into a message, where the endpoint wraps it.</summary>
    protected virtual string SentIn(string body) => body;

    /// <summary>Bytes that the endpoint adds to what the sender put in.</summary>
    protected virtual int AddedBytes => 0;

    /// <summary>Whether messages stay with the external system while the host takes none, instead of being turned away.</summary>
    protected abstract bool Waits { get; }

    /// <summary>The hold that the endpoint's admission asks; there once the endpoint is.</summary>
    protected abstract IntakeHold IntakeHold { get; }

    /// <summary>Holds messages back, and lets them in.</summary>
    protected ToldAuditGate AuditGate { get; private set; } = null!;

    private protected RecordingIntake Intake { get; private set; } = null!;

    /// <summary>An endpoint that hands over to <see cref="Intake"/>, asks <see cref="AuditGate"/> and works on <see cref="AtOnce"/>
    /// messages at once; not started yet.</summary>
    protected abstract Task<IInboundEndpoint> CreateAsync();

    /// <summary>Sends a message as the external system does, and waits for the verdict.</summary>
    protected abstract Task<SenderVerdict> SendAsync(string body, CancellationToken cancellationToken);

    /// <summary>How often the endpoint has wanted to take a message in while <see cref="Overload"/> held it back; only of one that
    /// <see cref="Waits"/>.</summary>
    protected virtual int Asked => 0;

    /// <summary>Lets the host have too much to do, or not any more.</summary>
    protected abstract void Overload(bool isOverloaded);

    [SetUp]
    public void CreateIntake() => (Intake, AuditGate) = (new RecordingIntake(), new ToldAuditGate());

    [Test]
    public async Task Message_arrives_as_it_was_sent(CancellationToken cancellationToken)
    {
        await using var endpoint = await StartAsync(cancellationToken);

        var verdict = await SendAsync("<order>Käse</order>", cancellationToken);

        Assert.That((verdict, SentIn(Intake.Bodies.Single())), Is.EqualTo((SenderVerdict.Accepted, "<order>Käse</order>")));
    }

    [Test]
    public async Task Message_counts_as_accepted_only_once_the_bus_has_it(CancellationToken cancellationToken)
    {
        var hold = Hold();
        await using var endpoint = await StartAsync(cancellationToken);

        var sending = SendAsync("<order/>", cancellationToken);
        await Eventually.HoldsAsync(() => Intake.Messages.Count == 1, "it is handed over", cancellationToken);
        var before = sending.IsCompleted;
        hold.SetResult();

        Assert.That((before, await sending), Is.EqualTo((false, SenderVerdict.Accepted)));
    }

    [Test]
    public async Task Sender_of_a_refused_message_is_told_and_the_next_one_is_taken(CancellationToken cancellationToken)
    {
        Intake.Answer = (message, _) =>
            SentIn(message.Body.ReadText()) == "bad"
                ? throw new EsbException("ESB-XML-SYNTAX", "The body is no XML.", FaultKind.Malformed)
                : Task.FromResult(Task.CompletedTask);
        await using var endpoint = await StartAsync(cancellationToken);

        var bad = await SendAsync("bad", cancellationToken);
        var good = await SendAsync("good", cancellationToken);

        Assert.That((bad, good), Is.EqualTo((SenderVerdict.Refused, SenderVerdict.Accepted)));
    }

    [Test]
    public async Task Message_that_fails_for_now_is_not_lost(CancellationToken cancellationToken)
    {
        var failures = 0;
        Intake.Answer = (_, _) =>
            Interlocked.Increment(ref failures) == 1
                ? throw new EsbException("ESB-TOPIC-UNAVAILABLE", "The broker is away.", FaultKind.Unavailable)
                : Task.FromResult(Task.CompletedTask);
        await using var endpoint = await StartAsync(cancellationToken);

        var verdict = await SendAsync("<order/>", cancellationToken);

        Assert.That(verdict, Is.EqualTo(Waits ? SenderVerdict.Accepted : SenderVerdict.TryAgain));
        if (Waits)
            Assert.That(Intake.Messages.Select(message => message.Id).Distinct().Count(), Is.EqualTo(1), "as the same message");
    }

    [Test]
    public async Task Nothing_is_taken_in_while_it_cannot_be_recorded(CancellationToken cancellationToken)
    {
        await using var endpoint = await StartAsync(cancellationToken);

        await AssertHeldBackAsync(
            () => AuditGate.Tell("the spool is full"),
            () => AuditGate.Tell(null),
            () => AuditGate.Waiting > 0,
            cancellationToken
        );
    }

    [Test]
    public async Task Nothing_is_taken_in_while_the_host_has_too_much_to_do(CancellationToken cancellationToken)
    {
        await using var endpoint = await StartAsync(cancellationToken);

        var asked = int.MaxValue;
        await AssertHeldBackAsync(Close, () => Overload(false), () => Asked > asked + 1, cancellationToken);

        void Close()
        {
            Overload(true);
            asked = Asked;
        }
    }

    [Test]
    public async Task Nothing_is_taken_in_while_an_operator_has_paused_it(CancellationToken cancellationToken)
    {
        await using var endpoint = await StartAsync(cancellationToken);

        await AssertHeldBackAsync(
            () => IntakeHold.Pause(true),
            () => IntakeHold.Pause(false),
            () => IntakeHold.Waiting > 0,
            cancellationToken
        );
    }

    [Test]
    public async Task Nothing_is_taken_in_outside_of_its_schedule(CancellationToken cancellationToken)
    {
        await using var endpoint = await StartAsync(cancellationToken);
        var closed = new AnyInboundConfig { Name = "in", Schedule = ClosedNow() };

        await AssertHeldBackAsync(
            () => IntakeHold.Keep(closed),
            () => IntakeHold.Keep(closed with { Schedule = null }),
            () => IntakeHold.Waiting > 0,
            cancellationToken
        );
    }

    [Test]
    public async Task As_many_messages_are_worked_on_at_once_as_configured(CancellationToken cancellationToken)
    {
        var (now, most, full) = (0, 0, new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously));
        Intake.Answer = async (_, token) =>
        {
            var inside = Interlocked.Increment(ref now);
            lock (full)
                most = Math.Max(most, inside);
            if (inside >= WorkedOnAtOnce)
                full.TrySetResult();
            await full.Task.WaitAsync(token);
            Interlocked.Decrement(ref now);
            return Task.CompletedTask;
        };
        await using var endpoint = await StartAsync(cancellationToken);

        var verdicts = await Task.WhenAll(Enumerable.Range(0, 2 * AtOnce).Select(number => SendAsync($"{number}", cancellationToken)));

        Assert.That(verdicts, Is.All.EqualTo(SenderVerdict.Accepted));
        Assert.That(most, Is.EqualTo(WorkedOnAtOnce));
    }

    [Test]
    public async Task Body_that_is_too_large_is_refused_and_the_next_one_is_taken(CancellationToken cancellationToken)
    {
        await using var endpoint = await StartAsync(cancellationToken);

        var tooLarge = await SendAsync(new string('x', MaxBodyBytes + 1), cancellationToken);
        var largest = await SendAsync(new string('x', MaxBodyBytes - AddedBytes), cancellationToken);

        Assert.That((tooLarge, largest), Is.EqualTo((SenderVerdict.Refused, SenderVerdict.Accepted)));
        Assert.That(Intake.Bodies.Single(), Has.Length.EqualTo(MaxBodyBytes));
        Assert.That(Intake.Refusals, Has.Count.EqualTo(1), "the audit hears of it");
    }

    [Test]
    public async Task Empty_body_is_a_message(CancellationToken cancellationToken)
    {
        await using var endpoint = await StartAsync(cancellationToken);

        var verdict = await SendAsync("", cancellationToken);

        Assert.That((verdict, SentIn(Intake.Bodies.Single())), Is.EqualTo((SenderVerdict.Accepted, "")));
    }

    [Test]
    public async Task Stopping_waits_for_what_is_under_way_and_its_sender_is_told(CancellationToken cancellationToken)
    {
        var hold = Hold();
        await using var endpoint = await StartAsync(cancellationToken);
        var sending = SendAsync("<order/>", cancellationToken);
        await Eventually.HoldsAsync(() => Intake.Messages.Count == 1, "it is handed over", cancellationToken);

        var stopping = endpoint.StopAsync(cancellationToken);
        var before = stopping.IsCompleted;
        hold.SetResult();
        await stopping;

        Assert.That((before, await sending), Is.EqualTo((false, SenderVerdict.Accepted)));
    }

    [Test]
    public async Task Stopping_ends_with_the_time_that_a_shutdown_may_take(CancellationToken cancellationToken)
    {
        Intake.Answer = async (_, token) =>
        {
            await Task.Delay(Timeout.Infinite, token);
            return Task.CompletedTask;
        };
        using var sender = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        await using var endpoint = await StartAsync(cancellationToken);
        var sending = SendAsync("<order/>", sender.Token);
        await Eventually.HoldsAsync(() => Intake.Messages.Count == 1, "it is handed over", cancellationToken);
        using var shutdown = new CancellationTokenSource();

        var stopping = endpoint.StopAsync(shutdown.Token);
        await shutdown.CancelAsync();
        await stopping.WaitAsync(cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);

        Assert.That(stopping.IsCompleted, Is.True);
        await sender.CancelAsync(); // one that polls keeps it for the next host, and its sender waits
        await ((Task)sending).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        Assert.That(sending.IsCompletedSuccessfully && await sending == SenderVerdict.Accepted, Is.False, "nobody has it");
    }

    [Test]
    public async Task Endpoint_that_waits_for_the_host_can_be_stopped(CancellationToken cancellationToken)
    {
        await using var endpoint = await StartAsync(cancellationToken);
        Overload(true);
        var asked = Asked;
        if (Waits)
            await Eventually.HoldsAsync(() => Asked > asked + 1, "no look that began before is under way", cancellationToken);
        using var sender = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var sending = SendAsync("<order/>", sender.Token);

        await endpoint.StopAsync(cancellationToken);
        await sender.CancelAsync();
        await ((Task)sending).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);

        Assert.That(Intake.Messages, Is.Empty);
    }

    private async Task<IInboundEndpoint> StartAsync(CancellationToken cancellationToken)
    {
        var endpoint = await CreateAsync();
        await endpoint.StartAsync(cancellationToken);
        return endpoint;
    }

    private TaskCompletionSource Hold()
    {
        var hold = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        Intake.Answer = async (_, token) =>
        {
            await hold.Task.WaitAsync(token);
            return Task.CompletedTask;
        };
        return hold;
    }

    private async Task AssertHeldBackAsync(Action close, Action open, Func<bool> waits, CancellationToken cancellationToken)
    {
        close();
        if (Waits)
            await Eventually.HoldsAsync(waits, "no look that began before is under way", cancellationToken);
        var sending = SendAsync("<order/>", cancellationToken);
        if (Waits)
            await Eventually.HoldsAsync(waits, "it looks no further", cancellationToken);
        else
            Assert.That(await sending, Is.EqualTo(SenderVerdict.TryAgain));
        var before = Intake.Messages.Count;
        open();

        Assert.That(await (Waits ? sending : SendAsync("<order/>", cancellationToken)), Is.EqualTo(SenderVerdict.Accepted));
        Assert.That((before, Intake.Messages.Count), Is.EqualTo((0, 1)));
    }

    // From three hours ahead on, for an hour: whenever the test runs.
    private static ScheduleConfig ClosedNow()
    {
        var now = TimeProvider.System.GetUtcNow();
        return new ScheduleConfig
        {
            From = TimeOfDay.Parse($"{now.AddHours(3):HH}:00")!,
            To = TimeOfDay.Parse($"{now.AddHours(4):HH}:00")!,
        };
    }

    private sealed record AnyInboundConfig : InboundEndpointConfig;
}
