namespace Esb.Host.Management.Farm;

/// <summary>A host of the farm in API responses.</summary>
internal sealed record HostView
{
    public required Guid Id { get; init; }

    /// <summary>Its machine and process.</summary>
    public required string Name { get; init; }

    /// <summary>True for the host that answers.</summary>
    public bool IsThis { get; init; }

    /// <summary>False if it did not answer in time; its other members are then unknown.</summary>
    public bool Answers { get; init; } = true;

    /// <summary>The reason why it accepts no messages; null if it does.</summary>
    public string? Obstacle { get; init; }

    public string? Version { get; init; }
    public string? Revision { get; init; }
    public DateTimeOffset? StartedAt { get; init; }

    /// <summary>Memory of the process, in bytes.</summary>
    public long? WorkingSet { get; init; }

    /// <summary>Memory of managed objects after the last collection, in bytes.</summary>
    public long? HeapBytes { get; init; }

    /// <summary>Processor time of the process, in seconds.</summary>
    public double? ProcessorSeconds { get; init; }

    public int? Processors { get; init; }
    public string? Runtime { get; init; }
    public string? OperatingSystem { get; init; }
}
