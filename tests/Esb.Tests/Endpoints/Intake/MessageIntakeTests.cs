using System.Diagnostics.Metrics;
using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Endpoints.Intake;
using Esb.Tests.Fakes;
using Microsoft.Extensions.Logging.Abstractions;
using NSubstitute;

namespace Esb.Tests.Endpoints.Intake;

public sealed class MessageIntakeTests
{
    private static readonly IntakeContent NoContent = new(ReadsReceived: false, HasReply: false, MaxBytes: 1000);

    private readonly ManualTime _time = new();
    private AuditLog _audit = null!;

    [SetUp]
    public void CreateAudit() => _audit = new AuditLog();

    [Test]
    public async Task Message_is_taken_in_once_it_is_recorded_and_done_with()
    {
        var received = new TaskCompletionSource();
        var audit = Substitute.For<IAuditTrail>();
        audit.RecordAsync(default!, default(EsbMessage)!, default).ReturnsForAnyArgs(_ => new ValueTask(received.Task));
        var intake = new MessageIntake(new Config { Name = "in" }, Nothing, needsTopics: true, isDurable: true, new IntakeState("in", _time), NoContent, audit, _time, NullLogger<MessageIntake>.Instance);

        var taking = intake.ReceiveAsync(Some.Message(), CancellationToken.None).AsTask();
        Assert.That(taking.IsCompleted, Is.False, "nothing is accepted before its fact is durable");
        received.SetResult();

        Assert.That((await taking).IsDurable, Is.True);
    }

    [Test]
    public void Message_that_cannot_be_recorded_is_not_taken_in()
    {
        _audit.Failure = new EsbException("ESB-AUD-WRITE", "Full.", FaultKind.Unavailable);

        Assert.That(FailureOf(Intake(Nothing)).Code, Is.EqualTo("ESB-AUD-WRITE"));
    }

    [Test]
    public async Task Message_that_was_worked_on_but_not_recorded_is_neither_taken_nor_refused_and_the_next_is_recorded_first()
    {
        var (records, runs) = (new Queue<TaskCompletionSource>([new(), new(), new()]), 0);
        var recording = records.ToArray();
        var audit = Substitute.For<IAuditTrail>();
        audit.RecordAsync(default!, default(EsbMessage)!, default).ReturnsForAnyArgs(call => call.Arg<AuditFact>().Kind == AuditKind.Received ? new ValueTask(records.Dequeue().Task) : ValueTask.CompletedTask);
        var intake = new MessageIntake(new Config { Name = "in" }, Count, needsTopics: true, isDurable: true, new IntakeState("in", _time), NoContent, audit, _time, NullLogger<MessageIntake>.Instance);

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
        audit.RecordAsync(default!, default(EsbMessage)!, default).ReturnsForAnyArgs(_ => new ValueTask(recording.Task));
        var intake = new MessageIntake(new Config { Name = "in" }, Nothing, needsTopics: true, isDurable: true, new IntakeState("in", _time), NoContent, audit, _time, NullLogger<MessageIntake>.Instance);

        var unrecorded = intake.ReceiveAsync(Some.Message(), CancellationToken.None).AsTask();
        recording.SetException(new EsbException("ESB-AUD-WRITE", "The audit store refuses the fact.", FaultKind.Internal));

        Assert.That(
            async () => await unrecorded,
            Throws.TypeOf<EsbException>().With.Property("Code").EqualTo("ESB-AUD-UNRECORDED").And.Property("IsTransient").False,
            "a sender that tries again would have it worked on again");
    }

    [Test]
    public async Task Result_waits_for_what_was_published()
    {
        var settled = new TaskCompletionSource();
        var intake = Intake((context, _) =>
        {
            context.AwaitSettled(settled.Task);
            return ValueTask.CompletedTask;
        });

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

    [TestCase(FaultKind.Malformed, AuditKind.Refused), TestCase(FaultKind.Invalid, AuditKind.Refused), TestCase(FaultKind.TooLarge, AuditKind.Refused)]
    [TestCase(FaultKind.Unavailable, AuditKind.Failed), TestCase(FaultKind.Timeout, AuditKind.Failed), TestCase(FaultKind.Outside, AuditKind.Failed), TestCase(FaultKind.Internal, AuditKind.Failed)]
    public void Fault_is_recorded_as_whose_it_is(FaultKind kind, AuditKind recorded)
    {
        var failure = FailureOf(Intake((_, _) => throw new EsbException("ESB-SOME", "Because.", kind)));

        Assert.That(failure.Kind, Is.EqualTo(kind));
        Assert.That(_audit.Facts[^1], Has.Property(nameof(AuditFact.Kind)).EqualTo(recorded).And.Property(nameof(AuditFact.Code)).EqualTo("ESB-SOME").And.Property(nameof(AuditFact.Reason)).EqualTo("Because."));
    }

    [Test]
    public void Failure_that_nobody_foresaw_becomes_one_that_may_be_shown()
    {
        var cause = new InvalidOperationException("inside");

        var failure = FailureOf(Intake((_, _) => throw cause));

        Assert.That((failure.Code, failure.Kind, failure.InnerException), Is.EqualTo(("ESB-PROC-FAILED", FaultKind.Internal, (Exception?)cause)));
        Assert.That(_audit.Facts[^1].Reason, Does.Not.Contain("inside"));
    }

    [Test]
    public void Caller_of_request_reply_waits_no_longer_than_the_time_out()
    {
        var intake = Intake((_, token) => new ValueTask(Task.Delay(Timeout.Infinite, token)), ExchangePattern.RequestReply);

        var taking = intake.ReceiveAsync(Some.Message(), CancellationToken.None).AsTask();
        _time.Advance(TimeSpan.FromSeconds(60));

        var failure = Assert.ThrowsAsync<EsbException>(() => taking);
        Assert.That((failure.Code, failure.Kind), Is.EqualTo(("ESB-HTTP-TIMEOUT", FaultKind.Timeout)));
    }

    [Test]
    public async Task Sender_that_hangs_up_is_recorded_and_is_no_failure()
    {
        using var gone = new CancellationTokenSource();
        var taking = Intake((_, token) => new ValueTask(Task.Delay(Timeout.Infinite, token))).ReceiveAsync(Some.Message(), gone.Token).AsTask();

        await gone.CancelAsync();

        Assert.That(() => taking, Throws.InstanceOf<OperationCanceledException>());
        Assert.That((_audit.Facts[^1].Kind, _audit.Facts[^1].Code), Is.EqualTo((AuditKind.Aborted, "ESB-INTAKE-ABORTED")));
    }

    [Test]
    public async Task What_came_in_is_counted_by_endpoint_and_outcome()
    {
        var counted = new List<string>();
        using var meters = new MeterListener
        {
            InstrumentPublished = (instrument, listener) =>
            {
                if (instrument.Name == "esb.message.received") listener.EnableMeasurementEvents(instrument);
            },
        };
        meters.SetMeasurementEventCallback<long>((instrument, value, tags, _) => counted.Add($"{value} {instrument.Unit} {string.Join(' ', tags.ToArray().Select(tag => $"{tag.Key}={tag.Value}"))}"));
        meters.Start();

        await Intake(Nothing).ReceiveAsync(Some.Message(), CancellationToken.None);
        await Intake(Nothing, ExchangePattern.RequestReply).ReceiveAsync(Some.Message(), CancellationToken.None);
        FailureOf(Intake((_, _) => throw new EsbException("ESB-SOME", "Because.", FaultKind.Invalid)));
        FailureOf(Intake((_, _) => throw new EsbException("ESB-SOME", "Because.", FaultKind.Outside)));
        await Intake(Nothing).RefuseAsync(Some.Message(), "ESB-SOME", "Because.", CancellationToken.None);

        Assert.That(counted, Is.EqualTo(new[] { "accepted", "replied", "refused", "failed", "refused" }.Select(outcome => $"1 {{message}} esb.endpoint=in esb.outcome={outcome}")));
    }

    [Test, CancelAfter(5_000)]
    public async Task Body_that_is_recorded_is_read_before_the_process_begins(CancellationToken cancellationToken)
    {
        var wasBuffered = false;
        var intake = Intake(Look, content: new IntakeContent(ReadsReceived: true, HasReply: false, MaxBytes: 1000));

        await intake.ReceiveAsync(Some.Message() with { Body = MessageBody.FromStream(new MemoryStream("<order/>"u8.ToArray())) }, cancellationToken);

        Assert.That(wasBuffered);
        Assert.That(_audit.ContentOf(_audit.Facts.Single()).Body.ReadText(), Is.EqualTo("<order/>"));

        ValueTask Look(MessageContext context, CancellationToken token)
        {
            wasBuffered = context.Message.Body.IsBuffered;
            return ValueTask.CompletedTask;
        }
    }

    [Test, CancelAfter(5_000)]
    public async Task Answer_of_a_process_is_recorded_where_answers_are(CancellationToken cancellationToken)
    {
        var intake = Intake(Answer, ExchangePattern.RequestReply, new IntakeContent(ReadsReceived: false, HasReply: true, MaxBytes: 1000), process: "answer");
        var message = Some.Message();

        await intake.ReceiveAsync(message, cancellationToken);

        Assert.That(_audit.Facts.Select(fact => (fact.Kind, fact.MessageId)), Is.EqualTo(new[] { (AuditKind.Received, message.Id), (AuditKind.Replied, message.Id) }));
        Assert.That(_audit.ContentOf(_audit.Facts[1]).Body.ReadText(), Is.EqualTo("<answer/>"));

        static ValueTask Answer(MessageContext context, CancellationToken token)
        {
            context.Message = context.Message with { Body = MessageBody.FromText("<answer/>") };
            return ValueTask.CompletedTask;
        }
    }

    [TestCase(ExchangePattern.OneWay, AuditKind.Completed), TestCase(ExchangePattern.RequestReply, AuditKind.Replied)]
    public async Task Process_that_publishes_nothing_ends_with_a_fact_of_how_long_it_took_and_nothing_of_the_message(ExchangePattern mode, AuditKind end)
    {
        var body = MessageBody.FromStream(new MemoryStream("<order/>"u8.ToArray()));
        var message = Some.Message() with { Body = body };

        await Intake(TakeTime, mode, process: "work").ReceiveAsync(message, CancellationToken.None);

        var fact = _audit.Facts[^1];
        Assert.That((fact.Kind, fact.MessageId, fact.Endpoint, fact.Process, fact.Duration), Is.EqualTo((end, message.Id, "in", "work", TimeSpan.FromSeconds(3))));
        Assert.That(() => _audit.ContentOf(fact), Throws.InstanceOf<KeyNotFoundException>());
        Assert.That(body.IsBuffered, Is.False, "what is not recorded is not read");

        ValueTask TakeTime(MessageContext context, CancellationToken cancellationToken)
        {
            _time.Advance(TimeSpan.FromSeconds(3));
            return ValueTask.CompletedTask;
        }
    }

    [Test]
    public async Task What_was_published_says_that_a_one_way_process_has_ended()
    {
        await Intake(Publish, process: "work").ReceiveAsync(Some.Message(), CancellationToken.None);

        Assert.That(_audit.Kinds, Is.EqualTo(new[] { AuditKind.Received }), "the publisher records the rest");

        static ValueTask Publish(MessageContext context, CancellationToken cancellationToken)
        {
            context.NotePublished(new FirstPublish("orders", ConfirmedAt: 1));
            return ValueTask.CompletedTask;
        }
    }

    [Test]
    public void Answer_whose_end_cannot_be_recorded_is_not_given()
    {
        var intake = Intake(LoseAudit, ExchangePattern.RequestReply, process: "work");

        Assert.That(FailureOf(intake).Code, Is.EqualTo("ESB-AUD-UNRECORDED"));

        ValueTask LoseAudit(MessageContext context, CancellationToken cancellationToken)
        {
            _audit.Failure = new EsbException("ESB-AUD-WRITE", "Full.", FaultKind.Unavailable);
            return ValueTask.CompletedTask;
        }
    }

    [Test]
    public async Task Steps_are_recorded_with_the_end_of_their_process()
    {
        await Intake(PassStep, content: NoContent with { HasSteps = true }, process: "work").ReceiveAsync(Some.Message(), CancellationToken.None);

        Assert.That(_audit.Facts.Select(fact => (fact.Kind, fact.Step)), Is.EqualTo(new[] { (AuditKind.Received, null), (AuditKind.StepEnded, "first"), (AuditKind.Completed, (string?)null) }));
    }

    [Test]
    public void Steps_before_a_failure_are_recorded_with_it()
    {
        var intake = Intake(PassAndFail, content: NoContent with { HasSteps = true }, process: "work");

        FailureOf(intake);

        Assert.That(_audit.Kinds, Is.EqualTo(new[] { AuditKind.Received, AuditKind.StepEnded, AuditKind.Refused }));

        static async ValueTask PassAndFail(MessageContext context, CancellationToken cancellationToken)
        {
            await PassStep(context, cancellationToken);
            throw new EsbException("ESB-SOME", "Because.", FaultKind.Invalid);
        }
    }

    [Test]
    public async Task Steps_are_not_kept_where_nobody_wants_them()
    {
        var hasLog = true;

        await Intake(Look, process: "work").ReceiveAsync(Some.Message(), CancellationToken.None);

        Assert.That(hasLog, Is.False);

        ValueTask Look(MessageContext context, CancellationToken cancellationToken)
        {
            hasLog = context.Steps is not null;
            return ValueTask.CompletedTask;
        }
    }

    [Test]
    public void Failure_is_recorded_with_the_step_that_failed()
    {
        FailureOf(Intake((context, _) =>
        {
            context.FailedStep = "validate";
            throw new EsbException("ESB-SOME", "Because.", FaultKind.Invalid);
        }));

        Assert.That((_audit.Facts[^1].Kind, _audit.Facts[^1].Step), Is.EqualTo((AuditKind.Refused, "validate")));
    }

    private static ValueTask PassStep(MessageContext context, CancellationToken cancellationToken)
    {
        context.Steps!.Ended(context, "first", context.Steps.Begin());
        return ValueTask.CompletedTask;
    }

    private static readonly MessageStep Nothing = (_, _) => ValueTask.CompletedTask;

    private static MessageStep SetStatus(double status) => (context, _) =>
    {
        context.SetProperty(MessageContext.StatusProperty, status);
        return ValueTask.CompletedTask;
    };

    private MessageIntake Intake(MessageStep run, ExchangePattern mode = ExchangePattern.OneWay, IntakeContent? content = null, string? process = null) =>
        new(new Config { Name = "in", Mode = mode, Process = process }, run, needsTopics: true, isDurable: false, new IntakeState("in", _time), content ?? NoContent, _audit, _time, NullLogger<MessageIntake>.Instance);

    private static EsbException FailureOf(MessageIntake intake) =>
        Assert.ThrowsAsync<EsbException>(async () => await intake.ReceiveAsync(Some.Message(), CancellationToken.None))!;

    private sealed record Config : InboundEndpointConfig;
}
