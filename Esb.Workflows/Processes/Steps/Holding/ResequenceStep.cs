using System.Globalization;
using Esb.Core.Configuration.Settings;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Processes;
using Esb.Workflows.Processes.Holding;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Workflows.Processes.Steps.Holding;

/// <summary>What becomes of messages that wait for one that does not come.</summary>
internal enum GapAction
{
    /// <summary>They wait on, without limit.</summary>
    Wait,

    /// <summary>They continue without it.</summary>
    Release,

    /// <summary>They become dead letters.</summary>
    DeadLetter,
}

/// <summary>Settings of the step <c>resequence</c>.</summary>
internal sealed record ResequenceConfig : SettingsRecord
{
    [Setting("What the messages of a sequence have in common; without it all messages are one sequence.")]
    public ValueConfig? Key { get; init; }

    [Setting("Where the message has its number: whole numbers, each one more than the one before.")]
    public required ValueConfig Sequence { get; init; }

    [Setting("The number at which a sequence begins.", Range = "0..1000000000")]
    public int Start { get; init; } = 1;

    [Setting("How long messages wait for a missing one.", Range = "1s..365d")]
    public TimeSpan Within { get; init; } = TimeSpan.FromSeconds(60);

    [Setting("What happens to them then: wait, release or dead-letter.")]
    public GapAction OnGap { get; init; }

    [Setting("How many messages of a sequence may wait; one more is refused, to be sent again.", Range = "1..100000")]
    public int MaxPending { get; init; } = 1_000;
}

/// <summary>What happens to a gap later.</summary>
/// <param name="Settings">The step.</param>
internal sealed record ResequenceFlow(ResequenceConfig Settings) : StepFlow
{
    /// <summary>How long a gap is waited for; null without limit.</summary>
    public TimeSpan? Within => Settings.OnGap == GapAction.Wait ? null : Settings.Within;
}

/// <summary>Continues with messages in the order of their numbers; what comes early waits in the store (pattern: Resequencer).</summary>
internal sealed class ResequenceStep : StepFactory<ResequenceConfig>
{
    public override string Kind => "resequence";

    protected override StepModel Compile(ResequenceConfig settings, StepConfig step, IStepCompiler compiler)
    {
        HoldingSteps.RefuseInWorkflow(step, "collect", compiler);
        var key = settings.Key is null ? null : compiler.Expressions.Compile(settings.Key, compiler.Errors);
        var sequence = compiler.Expressions.Compile(settings.Sequence, compiler.Errors);
        var flow = new ResequenceFlow(settings);
        return new StepModel(step, settings.Key is null ? "resequence" : "resequence(by key)")
        {
            Traits = new StepTraits
            {
                Holds = true,
                LeavesFacts = true,
                Values = settings.Key is { } named ? [named, settings.Sequence] : [settings.Sequence],
            },
            Flow = flow,
            Bind =
                sequence is null || (key is null && settings.Key is not null)
                    ? null
                    : services => Run(services.GetRequiredService<Holder>()),
        };

        MessageStep Run(Holder holder) =>
            async (context, cancellationToken) =>
            {
                var line = HoldingSteps.KeyOf(key, context, step);
                var number = NumberOf(sequence!, context, step);
                var held = await holder.PrepareAsync(context, step.Place, line, HoldingSteps.OrderKeyOf(line, step), cancellationToken);
                var change = await holder.Store.AddToSequenceAsync(
                    held,
                    number,
                    settings.Start,
                    flow.Within,
                    settings.MaxPending,
                    HeldQueues.OfProcess(context.Process),
                    cancellationToken
                );
                if (change.IsFull)
                    throw new EsbException(
                        "ESB-HOLD-FULL",
                        $"{settings.MaxPending} messages wait already at the step {step.Place} for one that is missing.",
                        FaultKind.Unavailable
                    );
                holder.Send(change);
                await holder.EndAsync(context, step.Place, "resequenced", change.IsKnown);
            };
    }

    private static long NumberOf(IMessageValue sequence, MessageContext context, StepConfig step)
    {
        var text = MessageValues.AsText(sequence.Evaluate(context));
        return long.TryParse(text?.Trim(), NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out var number)
            ? number
            : throw new EsbException(
                "ESB-HOLD-NUMBER",
                $"The message has no whole number for the sequence of the step {step.Place}.",
                FaultKind.Invalid
            );
    }
}
