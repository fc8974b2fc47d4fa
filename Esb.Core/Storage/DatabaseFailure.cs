using Esb.Core.Errors;

namespace Esb.Core.Storage;

/// <summary>A failure of an external database, without values of messages.</summary>
/// <param name="Code">Stable: <c>ESB-SQL-…</c>.</param>
/// <param name="Sentence">The description.</param>
/// <param name="Kind">The party at fault.</param>
/// <param name="IsTransient">True if a retry may help.</param>
/// <param name="IsOutage">True if the database is currently unusable for all callers.</param>
/// <param name="NeedsNewConnections">True if open connections stay useless: their server is no longer the primary, but new ones may find
/// the current primary.</param>
public sealed record DatabaseFailure(
    string Code,
    string Sentence,
    FaultKind Kind,
    bool IsTransient = false,
    bool IsOutage = false,
    bool NeedsNewConnections = false
)
{
    /// <summary>Address and cause, for operators only; null if the sentence says all.</summary>
    public string? Detail { get; init; }

    /// <summary>Converts the failure to the exception of an endpoint, or of a connection.</summary>
    public EndpointException ToException(string endpoint, Exception cause) =>
        new(endpoint, Code, Sentence, IsTransient, cause, Kind) { IsOutage = IsOutage, Detail = Detail };
}
