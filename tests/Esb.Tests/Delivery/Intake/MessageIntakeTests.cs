using System.Diagnostics.Metrics;
using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Delivery.Intake;
using Microsoft.Extensions.Logging.Abstractions;
using NSubstitute;

namespace Esb.Tests.Delivery.Intake;

/// <summary>A message is taken in, refused or answered.</summary>
public sealed class MessageIntakeTests : IntakeFixture
{
    [Test]
    public async Task Message_is_taken_in_once_it_is_recorded_and_done_with()
    {
        var received = new TaskCompletionSource();
        var audit = Substitute.For<IAuditTrail>();
        audit.Mask.IsEmpty.Returns(true);
        audit.RecordAsync(default!, default(EsbMessage)!, default).ReturnsForAnyArgs(_ => new ValueTask(received.Task));
        var intake = new MessageIntake(
            new Config { Name = "in" },
            Nothing,
            needsTopics: true,
            isDurable: true,
            new IntakeState("in", Time),
            NoContent,
            audit,
            Time,
            NullLogger<MessageIntake>.Instance
        );

        var taking = intake.ReceiveAsync(Some.Message(), CancellationToken.None).AsTask();
        Assert.That(taking.IsCompleted, Is.False, "nothing is accepted before its fact is durable");
        received.SetResult();

        Assert.That((await taking).IsDurable, Is.True);
    }

    [Test]
    public void Message_that_cannot_be_recorded_is_not_taken_in()
    {
        Audit.Failure = new EsbException("ESB-AUD-WRITE", "Full.", FaultKind.Unavailable);

        Assert.That(FailureOf(Intake(Nothing)).Code, Is.EqualTo("ESB-AUD-WRITE"));
    }

    [Test]
    public async Task Message_that_was_worked_on_but_not_recorded_is_neither_taken_nor_refused_and_the_next_is_recorded_first()
    {
        var (records, runs) = (new Queue<TaskCompletionSource>([new(), new(), new()]), 0);
        var recording = records.ToArray();
        var audit = Substitute.For<IAuditTrail>();
        audit.Mask.IsEmpty.Returns(true);
        audit
            .RecordAsync(default!, default(EsbMessage)!, default)
            .ReturnsForAnyArgs(call =>
                call.Arg<AuditFact>().Kind == AuditKind.Received ? new ValueTask(records.Dequeue().Task) : ValueTask.CompletedTask
            );
        var intake = new MessageIntake(
            new Config { Name = "in" },
            Count,
            needsTopics: true,
            isDurable: true,
            new IntakeState("in", Time),
            NoContent,
            audit,
            Time,
            NullLogger<MessageIntake>.Instance
        );

        var unrecorded = intake.ReceiveAsync(Some.Message(), CancellationToken.None).AsTask();
        recording[0].SetException(new EsbException("ESB-AUD-WRITE", "Full.", FaultKind.Unavailable));
        Assert.That(async () => await unrecorded, Throws.TypeOf<EsbException>().With.Property("Code").EqualTo("ESB-AUD-UNRECORDED"));

        var refused = intake.ReceiveAsync(Some.Message(), CancellationToken.None).AsTask();
        recording[1].SetException(new EsbException("ESB-AUD-WRITE", "Full.", FaultKind.Unavailable));
        Assert.That(async () => await refused, Throws.TypeOf<EsbException>().With.Property("Code").EqualTo("ESB-AUD-WRITE"));
        Assert.That(runs, Is.EqualTo(1), "what could not be recorded was not worked on");

        var taken = intake.ReceiveAsync(Some.Message(), CancellationToken.None).AsTask();
        recording[2].SetResult();
        await taken;
        Assert.That(runs, Is.EqualTo(2));

        ValueTask Count(MessageContext context, CancellationToken cancellationToken)
        {
            runs++;
            return ValueTask.CompletedTask;
        }
    }

    [Test, Property("Case", "AUD-05")]
    public void Message_that_was_worked_on_and_can_never_be_recorded_is_refused_for_good()
    {
        var recording = new TaskCompletionSource();
        var audit = Substitute.For<IAuditTrail>();
        audit.Mask.IsEmpty.Returns(true);
        audit.RecordAsync(default!, default(EsbMessage)!, default).ReturnsForAnyArgs(_ => new ValueTask(recording.Task));
        var intake = new MessageIntake(
            new Config { Name = "in" },
            Nothing,
            needsTopics: true,
            isDurable: true,
            new IntakeState("in", Time),
            NoContent,
            audit,
            Time,
            NullLogger<MessageIntake>.Instance
        );

        var unrecorded = intake.ReceiveAsync(Some.Message(), CancellationToken.None).AsTask();
        recording.SetException(new EsbException("ESB-AUD-WRITE", "The audit store refuses the fact.", FaultKind.Internal));

        Assert.That(
            async () => await unrecorded,
            Throws.TypeOf<EsbException>().With.Property("Code").EqualTo("ESB-AUD-UNRECORDED").And.Property("IsTransient").False,
            "a sender that tries again would have it worked on again"
        );
    }

    [Test]
    public async Task Result_waits_for_what_was_published()
    {
        var settled = new TaskCompletionSource();
        var intake = Intake(
            (context, _) =>
            {
                context.AwaitSettled(settled.Task);
                return ValueTask.CompletedTask;
            }
        );

        var result = await intake.ReceiveAsync(Some.Message(), CancellationToken.None);

        Assert.That(result.Settled.IsCompleted, Is.False);
        settled.SetResult();
        await result.Settled;
    }

    [Test]
    public async Task One_way_gives_no_reply_and_no_status()
    {
        var result = await Intake(SetStatus(404)).ReceiveAsync(Some.Message(), CancellationToken.None);

        Assert.That((result.Reply, result.Status), Is.EqualTo(((EsbMessage?)null, (int?)null)));
    }

    [Test]
    public async Task Request_reply_gives_the_message_at_the_end_and_its_status()
    {
        var result = await Intake(SetStatus(404), ExchangePattern.RequestReply).ReceiveAsync(Some.Message("<q/>"), CancellationToken.None);

        Assert.That((result.Reply!.Body.ReadText(), result.Status), Is.EqualTo(("<q/>", (int?)404)));
    }

    [Test]
    public void Failure_that_nobody_foresaw_becomes_one_that_may_be_shown()
    {
        var cause = new InvalidOperationException("inside");

        var failure = FailureOf(Intake((_, _) => throw cause));

        Assert.That(
            (failure.Code, failure.Kind, failure.InnerException),
            Is.EqualTo(("ESB-PROC-FAILED", FaultKind.Internal, (Exception?)cause))
        );
        Assert.That(Audit.Facts[^1].Reason, Does.Not.Contain("inside"));
    }

    [Test]
    public void Caller_of_request_reply_waits_no_longer_than_the_time_out()
    {
        var intake = Intake((_, token) => new ValueTask(Task.Delay(Timeout.Infinite, token)), ExchangePattern.RequestReply);

        var taking = intake.ReceiveAsync(Some.Message(), CancellationToken.None).AsTask();
        Time.Advance(TimeSpan.FromSeconds(60));

        var failure = Assert.ThrowsAsync<EsbException>(() => taking);
        Assert.That((failure.Code, failure.Kind), Is.EqualTo(("ESB-INTAKE-TIMEOUT", FaultKind.Timeout)));
    }

    [Test]
    public async Task Sender_that_hangs_up_is_recorded_and_is_no_failure()
    {
        using var gone = new CancellationTokenSource();
        var taking = Intake((_, token) => new ValueTask(Task.Delay(Timeout.Infinite, token)))
            .ReceiveAsync(Some.Message(), gone.Token)
            .AsTask();

        await gone.CancelAsync();

        Assert.That(() => taking, Throws.InstanceOf<OperationCanceledException>());
        Assert.That((Audit.Facts[^1].Kind, Audit.Facts[^1].Code), Is.EqualTo((AuditKind.Aborted, "ESB-INTAKE-ABORTED")));
    }

    [Test]
    public async Task What_came_in_is_counted_by_endpoint_and_outcome()
    {
        var counted = new List<string>();
        using var meters = new MeterListener
        {
            InstrumentPublished = (instrument, listener) =>
            {
                if (instrument.Name == "esb.message.received")
                    listener.EnableMeasurementEvents(instrument);
            },
        };
        meters.SetMeasurementEventCallback<long>(
            (instrument, value, tags, _) =>
                counted.Add($"{value} {instrument.Unit} {string.Join(' ', tags.ToArray().Select(tag => $"{tag.Key}={tag.Value}"))}")
        );
        meters.Start();

        await Intake(Nothing).ReceiveAsync(Some.Message(), CancellationToken.None);
        await Intake(Nothing, ExchangePattern.RequestReply).ReceiveAsync(Some.Message(), CancellationToken.None);
        FailureOf(Intake((_, _) => throw new EsbException("ESB-SOME", "Because.", FaultKind.Invalid)));
        FailureOf(Intake((_, _) => throw new EsbException("ESB-SOME", "Because.", FaultKind.Outside)));
        await Intake(Nothing).RefuseAsync(Some.Message(), "ESB-SOME", "Because.", CancellationToken.None);

        Assert.That(
            counted,
            Is.EqualTo(
                new[] { "accepted", "replied", "refused", "failed", "refused" }.Select(outcome =>
                    $"1 {{message}} esb.endpoint=in esb.outcome={outcome}"
                )
            )
        );
    }

    [Test]
    public async Task What_is_refused_before_it_is_taken_in_is_its_partys_too()
    {
        var intake = new MessageIntake(
            new Config { Name = "in", Party = "acme" },
            Nothing,
            needsTopics: true,
            isDurable: true,
            new IntakeState("in", Time),
            NoContent,
            Audit,
            Time,
            NullLogger<MessageIntake>.Instance
        );

        await intake.RefuseAsync(Some.Message(), "ESB-SOME", "Because.", CancellationToken.None);
        await intake.RecognizeAsync(Some.Message() with { Party = "other" }, "ESB-SOME", "Because.", CancellationToken.None);

        Assert.That(Audit.Facts.Select(fact => fact.Party), Is.EqualTo(new[] { "acme", "other" }));
    }

    private static MessageStep SetStatus(double status) =>
        (context, _) =>
        {
            context.SetProperty(MessageContext.StatusProperty, status);
            return ValueTask.CompletedTask;
        };
}
