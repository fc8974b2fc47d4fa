using Esb.Core.Configuration;

namespace Esb.Host.Management;

/// <summary>What runs here, secrets masked.</summary>
internal static class ConfigurationRoutes
{
    public static IEndpointRouteBuilder MapConfigurationRoutes(this IEndpointRouteBuilder api, IServiceProvider bus)
    {
        var configuration = bus.GetRequiredService<EsbConfiguration>();
        var values = configuration.Values.Select(value => new { value.Path, Value = value.Shown, Origin = value.Origin.ToString() }).ToList();
        api.MapGet("/configuration", () => new { configuration.Name, configuration.Revision, values });
        return api;
    }
}
