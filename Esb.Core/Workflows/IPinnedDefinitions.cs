namespace Esb.Core.Workflows;

/// <summary>Makes kept definitions run again, beside the running configuration. Thread-safe.</summary>
public interface IPinnedDefinitions
{
    /// <summary>Compiles the running configuration with the workflow, processes, maps, schemas, formats and prefixes of a kept
    /// definition.</summary>
    /// <param name="definition">The definition.</param>
    /// <returns>The services in which the workflow is that of the definition.</returns>
    /// <exception cref="Errors.EsbException"><c>ESB-WFL-VERSION</c>: it does not compile any more.</exception>
    IServiceProvider Open(StoredDefinition definition);

    /// <summary>Tells why a kept definition would not compile with a configuration that does not run yet.</summary>
    /// <param name="definition">The definition.</param>
    /// <param name="next">The services of the revision of that configuration.</param>
    /// <returns>The reason; null if it would compile.</returns>
    string? FindObstacle(StoredDefinition definition, IServiceProvider next);
}
