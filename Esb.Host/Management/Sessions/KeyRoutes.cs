namespace Esb.Host.Management.Sessions;

/// <summary>Shows who has keys, and what they may do.</summary>
internal static class KeyRoutes
{
    public static IEndpointRouteBuilder MapKeyRoutes(this IEndpointRouteBuilder api, ManagementKeys keys)
    {
        api.MapGet("/keys", () => new Page<ManagementKeyView>(keys.Describe()));
        return api;
    }
}
