using Esb.Core.Configuration.Settings;
using Esb.Core.Expressions;
using Esb.Core.Processes;
using Esb.Core.Topics;
using Esb.Workflows.Workflows.Compiling;

namespace Esb.Workflows.Workflows.Steps;

/// <summary>Settings of the step <c>receive</c>.</summary>
internal sealed record ReceiveConfig : SettingsRecord
{
    [Setting("The subjects to wait for; * stands for one part, # for any number.", TakesOne = true)]
    public required IReadOnlyList<SubjectPattern> Subscribe { get; init; }

    [Setting("The business keys, by name, and where the incoming message has them; each name is one of correlate.")]
    public IReadOnlyDictionary<string, ValueConfig> Match { get; init; } = new Dictionary<string, ValueConfig>();

    [Setting("The variable that keeps the message.")]
    public string? As { get; init; }

    [Setting("How long to wait; forever by default.")]
    public TimeSpan? Timeout { get; init; }

    [Setting("The steps that run when the time is over; without them the step fails with ESB-WFL-TIMEOUT.")]
    public IReadOnlyList<StepConfig>? OnTimeout { get; init; }
}

/// <summary>Waits for a message of the instance (pattern: Process Manager).</summary>
internal sealed class ReceiveStep : DurableStep<ReceiveConfig>
{
    public override string Kind => "receive";

    protected override StepModel CompileDurable(ReceiveConfig settings, StepConfig step, IStepCompiler compiler)
    {
        CheckTime(settings.Timeout, settings, "timeout", compiler);
        if (settings is { OnTimeout: not null, Timeout: null })
            compiler.Errors.Add("ESB-CFG-VALUE", settings, "onTimeout", "only beside timeout");
        var match = CompileMatch(settings.Match, settings, compiler);
        var late = settings.OnTimeout is null ? null : compiler.Compile(settings.OnTimeout);
        return Model(
            step,
            $"receive({string.Join(", ", settings.Subscribe)})",
            new ReceiveFlow(settings.Subscribe, match, settings.As, settings.Timeout, late),
            match.IsWhole,
            new StepTraits { ReplacesBody = true },
            late is null ? [] : [late]
        );
    }
}
