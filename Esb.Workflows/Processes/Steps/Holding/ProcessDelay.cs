using System.Globalization;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Processes;
using Esb.Workflows.Processes.Holding;
using Esb.Workflows.Workflows.Steps;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Workflows.Processes.Steps.Holding;

/// <summary>The step <c>delay</c> of a process (pattern: Scheduled Delivery): up to half a minute it waits in place, longer in the
/// store.</summary>
internal static class ProcessDelay
{
    private static readonly TimeSpan LongestInPlace = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan Longest = TimeSpan.FromDays(5 * 366);

    public static StepModel Compile(DelayConfig settings, StepConfig step, IStepCompiler compiler)
    {
        if (settings.For is { } given && (given <= TimeSpan.Zero || given > Longest))
            compiler.Errors.Add("ESB-CFG-RANGE", settings, "for", "expected more than 0s, at most 5 years");
        var until = settings.Until is null ? null : compiler.Expressions.Compile(settings.Until, compiler.Errors);
        var holds = settings.For is null || settings.For > LongestInPlace;
        return new StepModel(step, settings.For is { } time ? $"delay({Duration.Format(time)})" : "delay")
        {
            Traits = new StepTraits
            {
                Holds = holds,
                LeavesFacts = holds,
                Values = settings.Until is { } value ? [value] : [],
            },
            Bind =
                until is null && settings.Until is not null
                    ? null
                    : services => Run(holds ? services.GetRequiredService<Holder>() : null, services.GetRequiredService<TimeProvider>()),
        };

        MessageStep Run(Holder? holder, TimeProvider time) =>
            async (context, cancellationToken) =>
            {
                var (wait, instant) = settings.For is { } fixedTime ? (fixedTime, null) : WaitOf(until!, context, step, time);
                if (wait <= LongestInPlace || holder is null)
                {
                    if (wait > TimeSpan.Zero)
                        await Task.Delay(wait, time, cancellationToken);
                    return;
                }

                var key = context.Message.Key ?? context.HeldId.ToString(); // without a key, none waits for another
                var held = await holder.PrepareAsync(context, step.Place, key, key, cancellationToken);
                var isNew = await holder.Store.HoldUntilAsync(held, instant is null ? wait : null, instant, cancellationToken);
                await holder.EndAsync(context, step.Place, "delayed", isKnown: !isNew);
            };
    }

    private static (TimeSpan Wait, DateTimeOffset? Instant) WaitOf(
        IMessageValue until,
        MessageContext context,
        StepConfig step,
        TimeProvider time
    )
    {
        var text = MessageValues.AsText(until.Evaluate(context))?.Trim();
        if (text is not null && Duration.TryParse(text, out var duration) && duration <= Longest)
            return (duration, null);
        if (
            text is not null
            && DateTimeOffset.TryParse(text, CultureInfo.InvariantCulture, DateTimeStyles.AssumeUniversal, out var instant)
        )
        {
            var wait = instant - time.GetUtcNow();
            if (wait <= Longest)
                return (wait, instant);
        }

        throw new EsbException(
            "ESB-HOLD-TIME",
            $"The value of the step {step.Place} is neither an instant such as 2027-01-01T08:00:00Z nor a time such as 5m, at most 5 "
                + "years.",
            FaultKind.Invalid
        );
    }
}
