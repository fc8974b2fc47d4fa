using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Host.Reloading;

namespace Esb.Host.Management;

/// <summary>What runs here, secrets masked.</summary>
internal static class ConfigurationRoutes
{
    public static IEndpointRouteBuilder MapConfigurationRoutes(this IEndpointRouteBuilder api, IServiceProvider bus)
    {
        var live = bus.GetRequiredService<Live<EsbConfiguration>>();
        api.MapGet("/configuration", () => Describe(live.Current));
        api.MapPost("/configuration/reload", (HttpRequest request, CancellationToken cancellationToken) => ReloadAsync(bus, request, migrates: false, cancellationToken));
        api.MapPost("/configuration/migrate", (HttpRequest request, CancellationToken cancellationToken) => ReloadAsync(bus, request, migrates: true, cancellationToken));
        return api;
    }

    private static async Task<IResult> ReloadAsync(IServiceProvider bus, HttpRequest request, bool migrates, CancellationToken cancellationToken)
    {
        var desk = bus.GetRequiredService<ReloadDesk>();
        try
        {
            return TypedResults.Ok(await desk.ReloadAsync(Operators.DecisionOf(request, reason: null), migrates, cancellationToken));
        }
        catch (ConfigurationRefusedException ex)
        {
            return Problems.Refused(ex);
        }
    }

    private static object Describe(EsbConfiguration configuration) => new
    {
        configuration.Name,
        configuration.Revision,
        values = configuration.Values.Select(value => new { value.Path, Value = value.Shown, Origin = value.Origin.ToString() }),
    };
}
