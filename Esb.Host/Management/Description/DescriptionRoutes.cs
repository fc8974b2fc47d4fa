using System.Text.Json.Nodes;
using Esb.Configuration.Compiling;
using Esb.Core.Configuration;

namespace Esb.Host.Management.Description;

/// <summary>Describes the API and the topics for programs.</summary>
internal static class DescriptionRoutes
{
    public static IEndpointRouteBuilder MapDescriptionRoutes(
        this IEndpointRouteBuilder api,
        IServiceProvider bus,
        Func<IEnumerable<RouteEndpoint>> routes
    )
    {
        var live = bus.GetRequiredService<Live<BusModel>>();
        api.MapGet("/openapi.json", () => Text(OpenApiDocument.Write(routes())));
        api.MapGet("/asyncapi.json", () => Text(AsyncApiDocument.Write(live.Current)));
        return api;
    }

    private static IResult Text(JsonObject document) =>
        Results.Text(document.ToJsonString(JsonStyle.Indented), "application/json; charset=utf-8");
}
