using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Delivery.Intake;

namespace Esb.Tests.Delivery.Intake;

/// <summary>Facts of exchanges in which nothing is accepted: recorded together, before the answer.</summary>
public sealed class HeldFactsTests : IntakeFixture
{
    private static readonly EsbException Full = new("ESB-AUD-WRITE", "Full.", FaultKind.Unavailable);

    [Test]
    public async Task Facts_of_an_exchange_are_one_record_that_need_not_be_flushed_first()
    {
        var during = -1;
        var intake = Answering(Look, NoContent with { HasSteps = true });

        await intake.ReceiveAsync(Some.Message(), CancellationToken.None);

        Assert.That(during, Is.Zero);
        Assert.That(Audit.Kinds, Is.EqualTo(new[] { AuditKind.Received, AuditKind.StepEnded, AuditKind.Replied }));
        Assert.That(Audit.Groups, Is.EqualTo(new[] { (3, AuditDurability.Written) }));
        Assert.That(Audit.Facts[0].Time, Is.EqualTo(Audit.Facts[2].Time - TimeSpan.FromSeconds(3)), "each tells when it happened");

        ValueTask Look(MessageContext context, CancellationToken cancellationToken)
        {
            during = Audit.Facts.Count;
            Time.Advance(TimeSpan.FromSeconds(3));
            context.Steps!.Ended(context, "first", context.Steps.Begin());
            return ValueTask.CompletedTask;
        }
    }

    [Test]
    public void Failure_is_recorded_together_with_the_receipt()
    {
        FailureOf(Answering((_, _) => throw new EsbException("ESB-SOME", "Because.", FaultKind.Invalid)));

        Assert.That(Audit.Kinds, Is.EqualTo(new[] { AuditKind.Received, AuditKind.Refused }));
        Assert.That(Audit.Groups, Is.EqualTo(new[] { (2, AuditDurability.Written) }));
    }

    [Test]
    public async Task Facts_of_a_process_whose_endpoint_published_are_flushed_first()
    {
        await Answering(Publish).ReceiveAsync(Some.Message(), CancellationToken.None);

        Assert.That(Audit.Groups, Is.EqualTo(new[] { (2, AuditDurability.Flushed) }));

        static ValueTask Publish(MessageContext context, CancellationToken cancellationToken)
        {
            context.NotePublished(new FirstPublish("orders", ConfirmedAt: 1));
            return ValueTask.CompletedTask;
        }
    }

    [TestCase(true, false)]
    [TestCase(false, true)]
    public async Task Receipt_is_recorded_before_the_process_where_facts_come_first_and_where_the_answer_is_kept(
        bool comesFirst,
        bool isKept
    )
    {
        Audit.IsFlushedFirst = comesFirst;
        var during = -1;

        await Answering(Look).ReceiveAsync(Some.Message() with { IsAnswerKept = isKept }, CancellationToken.None);

        Assert.That((during, Audit.Facts.Count, Audit.Groups.Count), Is.EqualTo((1, 2, 0)));

        ValueTask Look(MessageContext context, CancellationToken cancellationToken)
        {
            during = Audit.Facts.Count;
            return ValueTask.CompletedTask;
        }
    }

    [Test]
    public async Task After_a_record_that_failed_the_next_receipt_is_recorded_before_the_process()
    {
        var runs = 0;
        var intake = Answering(Count);
        Audit.Failure = Full;

        Assert.That(FailureOf(intake).Code, Is.EqualTo("ESB-AUD-UNRECORDED"), "the work was done");
        Assert.That(FailureOf(intake).Code, Is.EqualTo("ESB-AUD-WRITE"), "nothing was done");
        Audit.Failure = null;
        await intake.ReceiveAsync(Some.Message(), CancellationToken.None);
        await intake.ReceiveAsync(Some.Message(), CancellationToken.None);

        Assert.That(runs, Is.EqualTo(3));
        Assert.That(Audit.Kinds, Is.EqualTo(new[] { AuditKind.Received, AuditKind.Replied, AuditKind.Received, AuditKind.Replied }));
        Assert.That(Audit.Groups[^1], Is.EqualTo((2, AuditDurability.Written)), "held again");

        ValueTask Count(MessageContext context, CancellationToken cancellationToken)
        {
            runs++;
            return ValueTask.CompletedTask;
        }
    }
}
