namespace Esb.Core.Workflows;

/// <summary>Counts of instances, as this host knows them. Thread-safe.</summary>
public interface IWorkflowCounts
{
    /// <summary>The instances that have not ended, of all hosts that share the store; a few seconds old. Workflows of the configuration
    /// without instances are there with 0.</summary>
    IReadOnlyList<LivingCount> Living { get; }
}
