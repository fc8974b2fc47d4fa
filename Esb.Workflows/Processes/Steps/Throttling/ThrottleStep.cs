using Esb.Core.Configuration.Settings;
using Esb.Core.Expressions;
using Esb.Core.Processes;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Workflows.Processes.Steps.Throttling;

/// <summary>Settings of the step <c>throttle</c>.</summary>
internal sealed record ThrottleConfig : SettingsRecord
{
    [Setting("How many messages pass in each period, on each host.", Main = true, Range = "1..1000000")]
    public required int Rate { get; init; }

    [Setting("The period.", Range = "1ms..1d")]
    public TimeSpan Per { get; init; } = TimeSpan.FromSeconds(1);

    [Setting(
        "How many messages pass at once after a quiet time; by default one, so that messages keep their distance.",
        Range = "1..1000000"
    )]
    public int Burst { get; init; } = 1;

    [Setting("Gives each value a rate of its own, such as one for each party; messages without the value share one.")]
    public ValueConfig? Key { get; init; }

    [Setting("How long a message waits for its turn before it fails.", Range = "0s..1h")]
    public TimeSpan Timeout { get; init; } = TimeSpan.FromSeconds(30);
}

/// <summary>Lets messages pass at a limited rate; they wait in place (pattern: Throttler).</summary>
/// <remarks>The rate holds for each host, and begins anew with another configuration.</remarks>
internal sealed class ThrottleStep : StepFactory<ThrottleConfig>
{
    public override string Kind => "throttle";

    protected override StepModel Compile(ThrottleConfig settings, StepConfig step, IStepCompiler compiler)
    {
        var key = settings.Key is null ? null : compiler.Expressions.Compile(settings.Key, compiler.Errors);
        return new StepModel(step, $"throttle({settings.Rate})")
        {
            Traits = new StepTraits { Streams = true, Values = settings.Key is { } named ? [named] : [] },
            Bind =
                key is null && settings.Key is not null
                    ? null
                    : services =>
                    {
                        var time = services.GetRequiredService<TimeProvider>();
                        var turns = new RateTurns(settings.Per / settings.Rate, settings.Burst, settings.Timeout, time);
                        return (context, cancellationToken) =>
                        {
                            var wait = turns.Take(key is null ? "" : MessageValues.AsText(key.Evaluate(context)) ?? "");
                            return wait > TimeSpan.Zero
                                ? new ValueTask(Task.Delay(wait, time, cancellationToken))
                                : ValueTask.CompletedTask;
                        };
                    },
        };
    }
}
