namespace Esb.Core.Marks;

/// <summary>Measures loads of this host that have a high and a low mark. Called by one caller at a time.</summary>
public interface IMarkSource
{
    /// <summary>The time between two measurements.</summary>
    TimeSpan Interval => TimeSpan.FromSeconds(1);

    /// <summary>Measures the loads whose marks are configured; none if none are.</summary>
    /// <exception cref="Errors.EsbException">Something that is measured is unreachable; the last measurement stays.</exception>
    ValueTask<IReadOnlyList<MarkMeasure>> MeasureAsync(CancellationToken cancellationToken);
}

/// <summary>A load beside its marks.</summary>
/// <param name="Name">What is measured: one of <see cref="MarkNames"/>.</param>
/// <param name="Endpoint">The endpoint; null if it concerns the host.</param>
/// <param name="Value">The load.</param>
/// <param name="High">The load from which the mark is crossed.</param>
/// <param name="Low">The load down to which it stays so; less than <paramref name="High"/>.</param>
/// <param name="Unit">What is counted, such as <c>calls</c> or <c>%</c>.</param>
public sealed record MarkMeasure(string Name, string? Endpoint, double Value, double High, double Low, string Unit)
{
    /// <summary>What happens while it is crossed, as a clause; null if it is only shown.</summary>
    public string? Effect { get; init; }

    /// <summary>True if inbound endpoints take nothing in while it is crossed, because nothing else does that for this mark.</summary>
    public bool HoldsIntake { get; init; }

    /// <summary>Whether it is crossed, if what enforces the mark knows; null to compare the load with the marks.</summary>
    public bool? IsCrossed { get; init; }
}

/// <summary>The loads that have marks.</summary>
public static class MarkNames
{
    /// <summary>Calls under way at all inbound endpoints of a host.</summary>
    public const string InFlight = "inFlight";

    /// <summary>Memory in use, in percent.</summary>
    public const string Memory = "memory";

    /// <summary>Processor time that the host uses, in percent.</summary>
    public const string Processor = "processor";

    /// <summary>Threads of the machine that run or wait for a processor, for each processor.</summary>
    public const string ProcessorQueue = "processorQueue";

    /// <summary>Sessions in use at the databases of the section <c>connections</c>.</summary>
    public const string Sessions = "sessions";

    /// <summary>Workflow instances that have not ended.</summary>
    public const string Instances = "instances";

    /// <summary>Messages in the queue of an endpoint.</summary>
    public const string Waiting = "waiting";

    /// <summary>Space in use on the disk of the host's folder, in percent.</summary>
    public const string Disk = "disk";

    /// <summary>The longest wait for a lock in the database of the store, in seconds.</summary>
    public const string LockWait = "lockWait";

    /// <summary>The age of the oldest transaction in the database of the store, in seconds.</summary>
    public const string Transaction = "transaction";

    /// <summary>Dead rows in the worst table of the store, in percent.</summary>
    public const string DeadRows = "deadRows";

    /// <summary>The size of the database of the store, in MiB.</summary>
    public const string DatabaseSize = "databaseSize";
}
