using Esb.Core.Configuration.Settings;
using Esb.Core.Expressions;
using Esb.Core.Processes;
using Esb.Core.Topics;
using Esb.Workflows.Workflows.Compiling;

namespace Esb.Workflows.Workflows.Steps;

/// <summary>When a collection is complete.</summary>
internal sealed record CollectUntilConfig : SettingsRecord
{
    [Setting("After this many messages.", Range = "1..1000")]
    public int? Count { get; init; }

    [Setting("When no message came for this time.")]
    public TimeSpan? Idle { get; init; }

    [Setting("This time after the wait began.")]
    public TimeSpan? Within { get; init; }

    [Setting("When this holds for a message that came.")]
    public ConditionConfig? If { get; init; }
}

/// <summary>Settings of the step <c>collect</c>.</summary>
internal sealed record CollectConfig : SettingsRecord
{
    [Setting("The subjects to collect; * stands for one part, # for any number.", TakesOne = true)]
    public required IReadOnlyList<SubjectPattern> Subscribe { get; init; }

    [Setting("The business keys, by name, and where the incoming message has them; each name is one of correlate.")]
    public IReadOnlyDictionary<string, ValueConfig> Match { get; init; } = new Dictionary<string, ValueConfig>();

    [Setting("When the collection is complete.")]
    public required CollectUntilConfig Until { get; init; }

    [Setting("The variable that keeps the messages, as a list.")]
    public string? As { get; init; }
}

/// <summary>Waits for several messages of the instance (pattern: Aggregator).</summary>
internal sealed class CollectStep : DurableStep<CollectConfig>
{
    public override string Kind => "collect";

    protected override StepModel CompileDurable(CollectConfig settings, StepConfig step, IStepCompiler compiler)
    {
        var until = settings.Until;
        if (until is { Count: null, Idle: null, Within: null, If: null } && until.IsWhole)
            compiler.Errors.Add(
                "ESB-CFG-REQUIRED",
                settings,
                "until",
                "expected at least one of count, idle, within and if: nothing else ends the collection"
            );
        CheckTime(until.Idle, until, "idle", compiler);
        CheckTime(until.Within, until, "within", compiler);
        var condition = until.If is null ? null : compiler.Expressions.Compile(until.If, compiler.Errors);
        var match = CompileMatch(settings.Match, settings, compiler);
        var flow = new CollectFlow(settings.Subscribe, match, settings.As, until.Count, until.Idle, until.Within, condition);
        return Model(
            step,
            $"collect({string.Join(", ", settings.Subscribe)})",
            flow,
            match.IsWhole && (condition is not null || until.If is null),
            new StepTraits { ReplacesBody = true }
        );
    }
}
