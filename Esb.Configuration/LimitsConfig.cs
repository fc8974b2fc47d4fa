using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;

namespace Esb.Configuration;

/// <summary>The section <c>limits</c>: bounds that keep one message, or many, from bringing the host down.</summary>
public sealed record LimitsConfig : SettingsRecord
{
    /// <summary>The largest accepted body, in bytes.</summary>
    [Setting("The largest body that is taken in.", Range = "1B..1GiB")]
    public ByteSize MaxBodySize { get; init; } = ByteSize.MiB(4);

    /// <summary>True if conditions and values read a body to its end, even where its beginning decides the result; null for JSON of
    /// messages only.</summary>
    [Setting(
        "Whether conditions and values read a body to its end, so that a fault behind what decides, such as a JSON name given "
            + "twice, refuses the message too. By default JSON is, except what a relay passes on; true includes XML and relays, "
            + "false nothing."
    )]
    public bool? CheckWholeBodies { get; init; }

    /// <summary>The maximum number of messages in the embedded transport; further publishes are refused.</summary>
    [Setting("Messages that the embedded transport keeps at most; further ones are refused.", Range = "1..1000000")]
    public int InFlight { get; init; } = 10_000;

    /// <summary>Calls worked on at once, above which callers are turned away.</summary>
    [Setting(
        "In-flight calls of all inbound endpoints; above this callers get 503 with Retry-After and files wait. Relays do not count.",
        Range = "1..1000000"
    )]
    public int InFlightHigh { get; init; } = 200;

    /// <summary>Low watermark of concurrent calls; callers are turned away until the number falls to it.</summary>
    [Setting("Calls at which they are accepted again; less than inFlightHigh.", Range = "0..1000000")]
    public int InFlightLow { get; init; } = 100;

    /// <summary>Memory in use, in percent, from which callers are turned away.</summary>
    [Setting(
        "Memory in use, in percent of what the garbage collector may use, from which callers get 503 with Retry-After and files wait.",
        Range = "2..100"
    )]
    public int MemoryHigh { get; init; } = 80;

    /// <summary>Low watermark of memory in use, in percent; callers are turned away until usage falls to it.</summary>
    [Setting("Memory in use at which calls are accepted again, in percent; less than memoryHigh.", Range = "1..100")]
    public int MemoryLow { get; init; } = 70;

    /// <summary>Database sessions in use from which callers are turned away; null for no mark.</summary>
    [Setting(
        "Sessions in use at the databases of connections, from which callers get 503 with Retry-After and files wait; by default no mark.",
        Range = "1..100000"
    )]
    public int? SessionsHigh { get; init; }

    /// <summary>Low mark of sessions; half of the high one if null.</summary>
    [Setting("Sessions at which calls are accepted again; by default half of sessionsHigh.", Range = "0..100000")]
    public int? SessionsLow { get; init; }

    /// <summary>Workflow instances that have not ended, from which the mark is shown; null for no mark.</summary>
    [Setting("Live workflow instances, from which a notice and an alert are raised; by default no mark.", Range = "1..100000000")]
    public int? InstancesHigh { get; init; }

    /// <summary>Low mark of instances; half of the high one if null.</summary>
    [Setting("Instances at which the mark is left again; by default half of instancesHigh.", Range = "0..100000000")]
    public int? InstancesLow { get; init; }

    /// <summary>Space in use on the disk of the host's folder, in percent, from which the mark is shown.</summary>
    [Setting("Space in use on the disk of the host's folder, in percent, from which a notice and an alert are raised.", Range = "2..100")]
    public int DiskHigh { get; init; } = 90;

    /// <summary>Low mark of the disk, in percent.</summary>
    [Setting("Space in use at which the mark is left again, in percent; less than diskHigh.", Range = "1..100")]
    public int DiskLow { get; init; } = 85;

    /// <summary>Processor time that the host uses, in percent, from which the mark is shown; null for no mark.</summary>
    [Setting(
        "Processor time that the host uses, in percent of all its processors, from which a notice and an alert are raised; by default no "
            + "mark.",
        Range = "2..100"
    )]
    public int? ProcessorHigh { get; init; }

    /// <summary>Low mark of the processor time; half of the high one if null.</summary>
    [Setting("Processor time at which the mark is left again, in percent; by default half of processorHigh.", Range = "1..100")]
    public int? ProcessorLow { get; init; }

    /// <summary>Threads of the machine that run or wait, for each processor, from which the mark is shown; null for no mark.</summary>
    [Setting(
        "Threads of the machine that run or wait for a processor, for each processor, from which a notice and an alert are raised; Linux "
            + "only; by default no mark.",
        Range = "2..10000"
    )]
    public int? ProcessorQueueHigh { get; init; }

    /// <summary>Low mark of the threads; half of the high one if null.</summary>
    [Setting("Threads at which the mark is left again; by default half of processorQueueHigh.", Range = "1..10000")]
    public int? ProcessorQueueLow { get; init; }

    /// <summary>How long a host that was told to stop goes on taking messages in, while its readiness already says no.</summary>
    [Setting("How long a stopping host still accepts messages, so that load balancers see that it is not ready.", Range = "0s..5m")]
    public TimeSpan DrainDelay { get; init; } = TimeSpan.FromSeconds(2);

    /// <summary>The time that in-flight messages may take after that.</summary>
    [Setting("How long messages under way may take when the host stops; then they go back to their queues.", Range = "1s..10m")]
    public TimeSpan DrainTimeout { get; init; } = TimeSpan.FromSeconds(25);

    /// <summary>The largest body that is sent inline over a broker if the store can keep larger ones.</summary>
    [Setting(
        "Over a broker, bodies above this size travel as a reference, where the store can keep them for all hosts.",
        Range = "1KiB..1GiB"
    )]
    public ByteSize ClaimCheck { get; init; } = ByteSize.KiB(256);

    /// <summary>Limits for one XML document.</summary>
    [Setting("Limits of one XML document.")]
    public XmlLimitsConfig Xml { get; init; } = new();
}
