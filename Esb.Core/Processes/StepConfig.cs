using Esb.Core.Configuration;

namespace Esb.Core.Processes;

/// <summary>A configured step.</summary>
public sealed record StepConfig
{
    /// <summary>The step's name, such as <c>publish</c>.</summary>
    public required string Kind { get; init; }

    /// <summary>Its settings, of the type registered for its kind.</summary>
    public required object Settings { get; init; }

    /// <summary>Its path, such as <c>processes.receive-order[2].publish</c>.</summary>
    public required string Path { get; init; }

    /// <summary>Its origin.</summary>
    public required ConfigOrigin Origin { get; init; }

    /// <summary>Name of the step in history, telemetry and environment variables; null if it has none.</summary>
    public string? Id { get; init; }

    /// <summary>Name in history and telemetry: its id, or its path.</summary>
    public string Place => Id ?? Path;

    /// <summary>A note for people.</summary>
    public string? Note { get; init; }
}
