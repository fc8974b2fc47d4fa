using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;
using Esb.Core.Expressions;
using Esb.Core.Processes;
using Esb.Core.Topics;

namespace Esb.Workflows.Workflows;

/// <summary>What happens to a starting message while an instance with its keys lives.</summary>
internal enum WhenRunning
{
    /// <summary>It starts another instance.</summary>
    New,

    /// <summary>It waits until that instance takes it; where the instance ends without, it starts a new one.</summary>
    Deliver,

    /// <summary>It is recorded and has no effect.</summary>
    Ignore,

    /// <summary>It becomes a dead letter.</summary>
    Fail,
}

/// <summary>Messages that start an instance.</summary>
internal sealed record StartConfig : SettingsRecord
{
    [Setting("The subjects; * stands for one part, # for any number.", Main = true, TakesOne = true)]
    public required IReadOnlyList<SubjectPattern> Subscribe { get; init; }

    [Setting("A condition on the message; one for which it does not hold starts nothing.")]
    public ConditionConfig? If { get; init; }
}

/// <summary>A workflow: steps that wait in the store between messages (pattern: Process Manager).</summary>
internal sealed record WorkflowConfig : SettingsRecord
{
    /// <summary>How long ended instances are kept where nothing says otherwise.</summary>
    public static readonly TimeSpan DefaultRetention = TimeSpan.FromDays(30);

    [Setting("The messages that start an instance, one or a list; without it only endpoints and other workflows do.", TakesOne = true)]
    public IReadOnlyList<StartConfig> Start { get; init; } = [];

    [Setting("The business keys of an instance, by name, and where the starting message has them.")]
    public IReadOnlyDictionary<string, ValueConfig> Correlate { get; init; } = new Dictionary<string, ValueConfig>();

    [Setting(
        "What happens to a starting message while an instance with its keys lives; new by default, fail where the workflow receives "
            + "or collects by these keys."
    )]
    public WhenRunning? WhenRunning { get; init; }

    [Setting("The steps.")]
    public required IReadOnlyList<StepConfig> Steps { get; init; }

    [Setting("Repetitions of a failed step that nothing catches; after the last the instance is suspended.")]
    public RetryConfig Retry { get; init; } = new();

    [Setting(
        "Lanes of its queue: messages of one order key keep their order, those of others are worked on at once. Fixed once the "
            + "queue exists.",
        Range = "1..128"
    )]
    public int Lanes { get; init; } = 8;

    [Setting("How long a message waits for an instance that does not exist yet; then it is a dead letter.", Range = "1s..30d")]
    public TimeSpan EarlyMessages { get; init; } = TimeSpan.FromMinutes(10);

    [Setting("How long an instance may live; then it is terminated. No limit by default.")]
    public TimeSpan? Timeout { get; init; }

    [Setting(
        "Living instances, above which starting messages wait in the store, and endpoints that start instances answer 503; no limit by "
            + "default.",
        Range = "1..100000000"
    )]
    public int? MaximumInstances { get; init; }

    [Setting("How long ended instances and their history are kept.", Range = "1m..3650d")]
    public TimeSpan Retention { get; init; } = DefaultRetention;
}
