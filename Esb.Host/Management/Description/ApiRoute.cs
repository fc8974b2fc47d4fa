namespace Esb.Host.Management.Description;

/// <summary>The description of a route.</summary>
/// <param name="Method">The HTTP method.</param>
/// <param name="Path">The path, such as <c>/api/endpoints/{name}</c>.</param>
/// <param name="Summary">What it does, in a sentence.</param>
internal sealed record ApiRoute(string Method, string Path, string Summary)
{
    /// <summary>Query parameters, each a name and a description.</summary>
    public IReadOnlyList<(string Name, string Description)> Query { get; init; } = [];

    /// <summary>The type of the request body; null if it takes none.</summary>
    public Type? Body { get; init; }

    /// <summary>The type of the answer; null if it is no JSON, or empty.</summary>
    public Type? Answer { get; init; }

    /// <summary>The media type of an answer, or of a body without a type, that is no JSON.</summary>
    public string? Media { get; init; }

    /// <summary>The status of success.</summary>
    public int Status { get; init; } = StatusCodes.Status200OK;

    /// <summary>True if a repetition under the same <c>Idempotency-Key</c> has no further effect.</summary>
    public bool IsCommand =>
        Method is not "GET" && Path.StartsWith("/api/", StringComparison.Ordinal) && !Path.EndsWith("/session", StringComparison.Ordinal);
}
