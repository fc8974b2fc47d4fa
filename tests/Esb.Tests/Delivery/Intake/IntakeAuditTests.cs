using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Delivery.Intake;

namespace Esb.Tests.Delivery.Intake;

/// <summary>What is recorded of a message that comes in: whose fault it was, its content, the end of its process and the steps of
/// it.</summary>
public sealed class IntakeAuditTests : IntakeFixture
{
    [
        TestCase(FaultKind.Malformed, AuditKind.Refused),
        TestCase(FaultKind.Invalid, AuditKind.Refused),
        TestCase(FaultKind.TooLarge, AuditKind.Refused)
    ]
    [
        TestCase(FaultKind.Unavailable, AuditKind.Failed),
        TestCase(FaultKind.Timeout, AuditKind.Failed),
        TestCase(FaultKind.Outside, AuditKind.Failed),
        TestCase(FaultKind.Internal, AuditKind.Failed)
    ]
    public void Fault_is_recorded_as_whose_it_is(FaultKind kind, AuditKind recorded)
    {
        var failure = FailureOf(Intake((_, _) => throw new EsbException("ESB-SOME", "Because.", kind)));

        Assert.That(failure.Kind, Is.EqualTo(kind));
        Assert.That(
            Audit.Facts[^1],
            Has.Property(nameof(AuditFact.Kind))
                .EqualTo(recorded)
                .And.Property(nameof(AuditFact.Code))
                .EqualTo("ESB-SOME")
                .And.Property(nameof(AuditFact.Reason))
                .EqualTo("Because.")
        );
    }

    [Test, CancelAfter(5_000)]
    public async Task Body_that_is_recorded_is_read_before_the_process_begins(CancellationToken cancellationToken)
    {
        var wasBuffered = false;
        var intake = Intake(Look, content: new IntakeContent(ReadsReceived: true, HasReply: false, MaxBytes: 1000));

        await intake.ReceiveAsync(
            Some.Message() with
            {
                Body = MessageBody.FromStream(new MemoryStream("<order/>"u8.ToArray())),
            },
            cancellationToken
        );

        Assert.That(wasBuffered);
        Assert.That(Audit.ContentOf(Audit.Facts.Single()).Body.ReadText(), Is.EqualTo("<order/>"));

        ValueTask Look(MessageContext context, CancellationToken token)
        {
            wasBuffered = context.Message.Body.IsBuffered;
            return ValueTask.CompletedTask;
        }
    }

    [Test, CancelAfter(30_000)]
    public async Task Answer_of_a_process_is_recorded_where_answers_are(CancellationToken cancellationToken)
    {
        var intake = Intake(
            Answer,
            ExchangePattern.RequestReply,
            new IntakeContent(ReadsReceived: false, HasReply: true, MaxBytes: 1000),
            process: "answer"
        );
        var message = Some.Message();

        await intake.ReceiveAsync(message, cancellationToken);

        Assert.That(
            Audit.Facts.Select(fact => (fact.Kind, fact.MessageId)),
            Is.EqualTo(new[] { (AuditKind.Received, message.Id), (AuditKind.Replied, message.Id) })
        );
        Assert.That(Audit.ContentOf(Audit.Facts[1]).Body.ReadText(), Is.EqualTo("<answer/>"));

        static ValueTask Answer(MessageContext context, CancellationToken token)
        {
            context.Message = context.Message with { Body = MessageBody.FromText("<answer/>") };
            return ValueTask.CompletedTask;
        }
    }

    [TestCase(ExchangePattern.OneWay, AuditKind.Completed), TestCase(ExchangePattern.RequestReply, AuditKind.Replied)]
    public async Task Process_that_publishes_nothing_ends_with_a_fact_of_how_long_it_took_and_nothing_of_the_message(
        ExchangePattern mode,
        AuditKind end
    )
    {
        var body = MessageBody.FromStream(new MemoryStream("<order/>"u8.ToArray()));
        var message = Some.Message() with { Body = body };

        await Intake(TakeTime, mode, process: "work").ReceiveAsync(message, CancellationToken.None);

        var fact = Audit.Facts[^1];
        Assert.That(
            (fact.Kind, fact.MessageId, fact.Endpoint, fact.Process, fact.Duration),
            Is.EqualTo((end, message.Id, "in", "work", TimeSpan.FromSeconds(3)))
        );
        Assert.That(() => Audit.ContentOf(fact), Throws.InstanceOf<KeyNotFoundException>());
        Assert.That(body.IsBuffered, Is.False, "what is not recorded is not read");

        ValueTask TakeTime(MessageContext context, CancellationToken cancellationToken)
        {
            Time.Advance(TimeSpan.FromSeconds(3));
            return ValueTask.CompletedTask;
        }
    }

    [Test]
    public async Task What_was_published_says_that_a_one_way_process_has_ended()
    {
        await Intake(Publish, process: "work").ReceiveAsync(Some.Message(), CancellationToken.None);

        Assert.That(Audit.Kinds, Is.EqualTo(new[] { AuditKind.Received }), "the publisher records the rest");

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
            Audit.Failure = new EsbException("ESB-AUD-WRITE", "Full.", FaultKind.Unavailable);
            return ValueTask.CompletedTask;
        }
    }

    [Test]
    public async Task Steps_are_recorded_with_the_end_of_their_process()
    {
        await Intake(PassStep, content: NoContent with { HasSteps = true }, process: "work")
            .ReceiveAsync(Some.Message(), CancellationToken.None);

        Assert.That(
            Audit.Facts.Select(fact => (fact.Kind, fact.Step)),
            Is.EqualTo(new[] { (AuditKind.Received, null), (AuditKind.StepEnded, "first"), (AuditKind.Completed, (string?)null) })
        );
    }

    [Test]
    public void Steps_before_a_failure_are_recorded_with_it()
    {
        var intake = Intake(PassAndFail, content: NoContent with { HasSteps = true }, process: "work");

        FailureOf(intake);

        Assert.That(Audit.Kinds, Is.EqualTo(new[] { AuditKind.Received, AuditKind.StepEnded, AuditKind.Refused }));

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
        FailureOf(
            Intake(
                (context, _) =>
                {
                    context.FailedStep = "validate";
                    throw new EsbException("ESB-SOME", "Because.", FaultKind.Invalid);
                }
            )
        );

        Assert.That((Audit.Facts[^1].Kind, Audit.Facts[^1].Step), Is.EqualTo((AuditKind.Refused, "validate")));
    }

    private static ValueTask PassStep(MessageContext context, CancellationToken cancellationToken)
    {
        context.Steps!.Ended(context, "first", context.Steps.Begin());
        return ValueTask.CompletedTask;
    }
}
