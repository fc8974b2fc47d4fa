namespace Esb.Host.Management;

/// <summary>The least role for each route: what is not named here is for viewers if it only reads, otherwise for administrators.</summary>
internal static class RouteRoles
{
    private static readonly HashSet<string> Operators =
    [
        "GET /api/evidence", // reads every fact of its days
        "GET /api/messages/{id}", // with the bodies that are recorded
        "GET /api/parked/{endpoint}/{line}",
        "PATCH /api/endpoints/{name}",
        "DELETE /api/endpoints/{name}/tuning",
        "DELETE /api/endpoints/{name}/tuning/{setting}",
        "PATCH /api/log",
        "POST /api/topics/{subject}/messages",
        "POST /api/unroutable/replays",
        "POST /api/dead-letters/discard",
        "POST /api/dead-letters/{id}/replay",
        "PUT /api/dead-letters/{id}/body",
        "DELETE /api/dead-letters/{id}/body",
        "POST /api/replays",
        "POST /api/replays/preview",
        "POST /api/replays/{id}/pause",
        "POST /api/replays/{id}/resume",
        "POST /api/replays/{id}/cancel",
        "POST /api/parked/{endpoint}/{line}/release",
        "POST /api/parked/{endpoint}/{line}/discard",
        "POST /api/messages/{id}/replay",
        "POST /api/messages/replays",
        "POST /api/messages/replays/preview",
        "POST /api/activities/rebuild",
        "GET /api/workflows/{id}", // with its variables
        "POST /api/workflows/{id}/retry",
        "POST /api/workflows/{id}/skip",
        "POST /api/workflows/{id}/terminate",
        "POST /api/workflows/{id}/fire",
        "PATCH /api/workflows/{id}/variables",
        "POST /api/workflows/batches",
        "POST /api/workflows/batches/preview",
        "POST /api/workflows/batches/{id}/stop",
        "POST /api/workflows/migrations",
        "DELETE /api/metrics/peaks",
        "GET /api/traces", // with bodies, and to know that there are some
        "GET /api/traces/{id}",
        "GET /api/traces/{id}/messages/{pass}",
        "POST /api/traces",
        "DELETE /api/traces/{id}",
    ];

    private static readonly HashSet<string> Administrators =
    [
        "GET /api/dead-letters/{id}/body", // unmasked, as it came
        "GET /api/keys",
    ];

    private static readonly Dictionary<string, ManagementRole> OfConsole = new()
    {
        ["DELETE /api/session"] = ManagementRole.Viewer, // everyone may sign out
        ["GET /api/log/events"] = ManagementRole.Operator, // lines may tell what messages hold
        ["GET /api/configuration/versions/{number}"] = ManagementRole.Administrator,
        ["GET /api/configuration/versions/diff"] = ManagementRole.Administrator,
        ["GET /api/configuration/files"] = ManagementRole.Administrator, // as they are written, comments included
    };

    public static ManagementRole Of(RouteEndpoint route) =>
        route.Metadata.GetMetadata<IHttpMethodMetadata>()?.HttpMethods is [var method]
            ? Of(method, route.RoutePattern.RawText ?? "")
            : ManagementRole.Administrator;

    /// <summary>The least role for a route.</summary>
    public static ManagementRole Of(string method, string pattern)
    {
        var route = $"{method} /{pattern.Trim('/')}";
        if (OfConsole.TryGetValue(route, out var role))
            return role;
        if (Administrators.Contains(route))
            return ManagementRole.Administrator;
        if (Operators.Contains(route))
            return ManagementRole.Operator;
        return method is "GET" or "HEAD" ? ManagementRole.Viewer : ManagementRole.Administrator;
    }
}
