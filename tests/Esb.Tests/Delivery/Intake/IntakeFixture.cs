using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Processes;
using Esb.Delivery.Intake;
using Esb.Tests.Fakes;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Tests.Delivery.Intake;

/// <summary>Intakes of messages for a process that the test plays, over an audit that it reads.</summary>
public abstract class IntakeFixture
{
    private protected static readonly IntakeContent NoContent = new(ReadsReceived: false, HasReply: false, MaxBytes: 1000);

    private protected static readonly MessageStep Nothing = (_, _) => ValueTask.CompletedTask;

    private protected ManualTime Time { get; } = new();

    private protected AuditLog Audit { get; private set; } = null!;

    [SetUp]
    public void CreateAudit() => Audit = new AuditLog();

    private protected MessageIntake Intake(
        MessageStep run,
        ExchangePattern mode = ExchangePattern.OneWay,
        IntakeContent? content = null,
        string? process = null
    ) =>
        new(
            new Config
            {
                Name = "in",
                Mode = mode,
                Process = process,
            },
            run,
            needsTopics: true,
            isDurable: false,
            new IntakeState("in", Time),
            content ?? NoContent,
            Audit,
            Time,
            NullLogger<MessageIntake>.Instance
        );

    private protected MessageIntake Answering(MessageStep run, IntakeContent? content = null) =>
        new(
            new Config
            {
                Name = "in",
                Mode = ExchangePattern.RequestReply,
                Process = "work",
            },
            run,
            needsTopics: false,
            isDurable: false,
            new IntakeState("in", Time),
            content ?? NoContent,
            Audit,
            Time,
            NullLogger<MessageIntake>.Instance
        )
        {
            OnlyAnswers = true,
        };

    private protected static EsbException FailureOf(MessageIntake intake) =>
        Assert.ThrowsAsync<EsbException>(async () => await intake.ReceiveAsync(Some.Message(), CancellationToken.None))!;

    private protected sealed record Config : InboundEndpointConfig;
}
