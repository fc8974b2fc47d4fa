using Esb.Core.Configuration;

namespace Esb.Core.Processes;

/// <summary>A step as it is configured.</summary>
public sealed record StepConfig
{
    /// <summary>The step's name, such as <c>publish</c>.</summary>
    public required string Kind { get; init; }

    /// <summary>Its settings, of the type that its kind is registered with.</summary>
    public required object Settings { get; init; }

    /// <summary>Where it stands, such as <c>processes.receive-order[2].publish</c>.</summary>
    public required string Path { get; init; }

    /// <summary>Where it came from.</summary>
    public required ConfigOrigin Origin { get; init; }

    /// <summary>Names the step in history, telemetry and environment variables; null where it has no name.</summary>
    public string? Id { get; init; }

    /// <summary>What it is called in history and telemetry: its id, or where it stands.</summary>
    public string Place => Id ?? Path;

    /// <summary>For people.</summary>
    public string? Note { get; init; }
}
