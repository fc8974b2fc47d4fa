using Esb.Core.Errors;
using Esb.Endpoints.Http.Listening;
using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http.Receiving;

/// <summary>Reads the properties that a request brings: <c>path.NAME</c> for each placeholder of the endpoint's path, <c>query.NAME</c> for
/// each parameter of its query. Thread-safe.</summary>
/// <param name="path">The path of the endpoint.</param>
internal sealed class RequestProperties(RoutePath path)
{
    public const string QueryPrefix = "query.";

    /// <summary>The most parameters of a query; each becomes a property.</summary>
    public const int MaxParameters = 1000;

    /// <summary>Reads the properties, decoded; null if there are none. The values of a repeated parameter are joined by commas.</summary>
    /// <exception cref="EsbException"><c>ESB-HTTP-QUERY</c>: the query has too many parameters.</exception>
    public IReadOnlyDictionary<string, object>? Read(HttpRequest request)
    {
        var hasQuery = request.QueryString is { HasValue: true, Value.Length: > 1 };
        if (!path.HasPlaceholders && !hasQuery)
            return null;
        var properties = new Dictionary<string, object>();
        if (path.HasPlaceholders)
            path.AddTo(properties, request.Path.Value!);
        if (!hasQuery)
            return properties;

        if (request.Query.Count > MaxParameters)
            throw HttpProblems.Of(
                StatusCodes.Status400BadRequest,
                "ESB-HTTP-QUERY",
                $"The query has more than {MaxParameters} parameters."
            );
        foreach (var (name, values) in request.Query)
            properties[QueryPrefix + name] = values.ToString();
        return properties;
    }

    /// <summary>True if the name is that of a property that requests bring.</summary>
    public static bool IsName(string name) =>
        name.StartsWith(QueryPrefix, StringComparison.Ordinal) || name.StartsWith(RoutePath.PropertyPrefix, StringComparison.Ordinal);
}
