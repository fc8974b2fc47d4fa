using System.Text.Json.Nodes;
using System.Text.RegularExpressions;
using Esb.Host.Management.Validation;

namespace Esb.Host.Management.Description;

/// <summary>Describes the management API as OpenAPI 3.1 (https://spec.openapis.org/oas/v3.1.1), from its route table and
/// <see cref="ApiCatalog"/>.</summary>
internal static partial class OpenApiDocument
{
    private const string Json = "application/json";

    public static JsonObject Write(IEnumerable<RouteEndpoint> routes)
    {
        var (schemas, paths) = (new TypeSchemas(), new JsonObject());
        var found = routes
            .Select(route =>
                (Route: route, Method: route.Metadata.GetMetadata<IHttpMethodMetadata>()?.HttpMethods is [var method] ? method : null)
            )
            .Where(found => found.Method is not null && IsApi(PathOf(found.Route)));
        foreach (
            var (route, method) in found
                .OrderBy(found => PathOf(found.Route), StringComparer.Ordinal)
                .ThenBy(found => found.Method, StringComparer.Ordinal)
        )
        {
            var path = PathOf(route);
            if (paths[path] is not JsonObject item)
                paths[path] = item = [];
            item[method!.ToLowerInvariant()] = OperationOf(route, ApiCatalog.Of(method, path), schemas);
        }

        return new JsonObject
        {
            ["openapi"] = "3.1.0",
            ["info"] = new JsonObject
            {
                ["title"] = "ESB management API",
                ["version"] = HostVersion.Text,
                ["description"] =
                    "States, messages and configuration of a running bus. Each operation names the least role that its key needs.",
                ["license"] = new JsonObject { ["name"] = "Apache-2.0", ["identifier"] = "Apache-2.0" },
            },
            ["servers"] = new JsonArray(new JsonObject { ["url"] = "/" }),
            ["security"] = new JsonArray(Scheme("bearer"), Scheme("key"), Scheme("session")),
            ["paths"] = paths,
            ["components"] = new JsonObject
            {
                ["schemas"] = schemas.Components,
                ["responses"] = Responses(schemas),
                ["securitySchemes"] = SecuritySchemes(),
            },
        };
    }

    /// <summary>The path of a route without the constraints of its parameters.</summary>
    public static string PathOf(RouteEndpoint route) => "/" + Parameter().Replace(route.RoutePattern.RawText!.Trim('/'), "{$1}");

    private static bool IsApi(string path) =>
        path.StartsWith("/api/", StringComparison.Ordinal) || path.StartsWith("/health/", StringComparison.Ordinal) || path == "/metrics";

    private static JsonObject OperationOf(RouteEndpoint route, ApiRoute described, TypeSchemas schemas)
    {
        var isOpen = route.Metadata.GetMetadata<OpenRoute>() is not null;
        var operation = new JsonObject
        {
            ["operationId"] = IdOf(described),
            ["summary"] = described.Summary,
            ["tags"] = new JsonArray(
                described.Path.Split('/')[described.Path.StartsWith("/api/", StringComparison.Ordinal) ? 2 : 1].Split('.')[0]
            ),
        };
        if (isOpen)
            operation["security"] = new JsonArray();
        else
            operation["x-esb-role"] = RouteRoles.Of(route).ToString().ToLowerInvariant();
        var parameters = ParametersOf(described);
        if (parameters.Count > 0)
            operation["parameters"] = parameters;
        if (described.Body is { } body)
            operation["requestBody"] = new JsonObject { ["content"] = Content(Json, schemas.Of(body)) };
        else if (described.Media is { } media && described.Method is not "GET")
            operation["requestBody"] = new JsonObject { ["content"] = Content(media, []) };
        operation["responses"] = ResponsesOf(described, schemas, isOpen);
        return operation;
    }

    private static JsonArray ParametersOf(ApiRoute described)
    {
        var parameters = new JsonArray();
        foreach (Match match in Parameter().Matches(described.Path))
            parameters.Add(
                new JsonObject
                {
                    ["name"] = match.Groups[1].Value,
                    ["in"] = "path",
                    ["required"] = true,
                    ["schema"] = new JsonObject { ["type"] = "string" },
                }
            );
        foreach (var (name, description) in described.Query)
            parameters.Add(
                new JsonObject
                {
                    ["name"] = name,
                    ["in"] = "query",
                    ["description"] = description,
                    ["schema"] = new JsonObject { ["type"] = "string" },
                }
            );
        if (described.IsCommand)
            parameters.Add(
                new JsonObject
                {
                    ["name"] = Operators.CommandHeader,
                    ["in"] = "header",
                    ["description"] = "A repetition under the same text is carried out once.",
                    ["schema"] = new JsonObject { ["type"] = "string", ["maxLength"] = 200 },
                }
            );
        return parameters;
    }

    private static JsonObject ResponsesOf(ApiRoute described, TypeSchemas schemas, bool isOpen)
    {
        var success = new JsonObject { ["description"] = "Success" };
        if (described.Answer is { } answer)
            success["content"] = Content(Json, schemas.Of(answer));
        else if (described.Media is { } media && described.Method is "GET")
            success["content"] = Content(media, []);
        var responses = new JsonObject { [described.Status.ToString(System.Globalization.CultureInfo.InvariantCulture)] = success };
        if (!isOpen)
            responses["401"] = Reference("Unauthorized");
        if (!isOpen)
            responses["403"] = Reference("Forbidden");
        responses["default"] = Reference("Problem");
        return responses;
    }

    private static JsonObject Responses(TypeSchemas schemas)
    {
        schemas.Components["Problem"] = new JsonObject
        {
            ["type"] = "object",
            ["description"] = "An error (RFC 9457).",
            ["required"] = new JsonArray("status", "code"),
            ["properties"] = new JsonObject
            {
                ["type"] = new JsonObject { ["type"] = "string" },
                ["title"] = new JsonObject { ["type"] = "string" },
                ["status"] = new JsonObject { ["type"] = "integer" },
                ["detail"] = new JsonObject { ["type"] = "string" },
                ["code"] = new JsonObject
                {
                    ["type"] = "string",
                    ["description"] = "Stable, for programs and searches.",
                    ["pattern"] = "^ESB-",
                },
                ["traceId"] = new JsonObject { ["type"] = "string", ["description"] = "The trace of the request." },
                ["errors"] = new JsonObject
                {
                    ["type"] = "array",
                    ["items"] = schemas.Of(typeof(ConfigErrorView)),
                    ["description"] = "Each error of a refused configuration.",
                },
            },
        };
        return new JsonObject
        {
            ["Unauthorized"] = ProblemOf("No key, or one that opens nothing."),
            ["Forbidden"] = ProblemOf("The role of the key does not suffice."),
            ["Problem"] = ProblemOf("Any other error."),
        };
    }

    private static JsonObject ProblemOf(string description) =>
        new()
        {
            ["description"] = description,
            ["content"] = Content("application/problem+json", new JsonObject { ["$ref"] = "#/components/schemas/Problem" }),
        };

    private static JsonObject SecuritySchemes() =>
        new()
        {
            ["bearer"] = new JsonObject
            {
                ["type"] = "http",
                ["scheme"] = "bearer",
                ["description"] = "A management key.",
            },
            ["key"] = new JsonObject
            {
                ["type"] = "apiKey",
                ["in"] = "header",
                ["name"] = ManagementPipeline.KeyHeader,
            },
            ["session"] = new JsonObject
            {
                ["type"] = "apiKey",
                ["in"] = "cookie",
                ["name"] = Sessions.ManagementSessions.Cookie,
                ["description"] = "Unsafe methods also send X-Esb-Csrf.",
            },
        };

    private static JsonObject Scheme(string name) => new() { [name] = new JsonArray() };

    private static JsonObject Content(string media, JsonObject schema) => new() { [media] = new JsonObject { ["schema"] = schema } };

    private static JsonObject Reference(string response) => new() { ["$ref"] = $"#/components/responses/{response}" };

    private static string IdOf(ApiRoute described) =>
        described.Method.ToLowerInvariant()
        + string.Concat(Word().Matches(described.Path).Select(word => char.ToUpperInvariant(word.Value[0]) + word.Value[1..]));

    [GeneratedRegex(@"\{\**([A-Za-z]+)[^}]*\}")]
    private static partial Regex Parameter();

    [GeneratedRegex("[A-Za-z0-9]+")]
    private static partial Regex Word();
}
