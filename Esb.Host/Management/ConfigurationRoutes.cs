using Esb.Configuration.Compiling;
using Esb.Core.Configuration;
using Esb.Core.Storage;
using Esb.Host.Reloading;

namespace Esb.Host.Management;

/// <summary>The running configuration, with masked secrets.</summary>
internal static class ConfigurationRoutes
{
    public static IEndpointRouteBuilder MapConfigurationRoutes(this IEndpointRouteBuilder api, IServiceProvider bus)
    {
        var live = bus.GetRequiredService<Live<BusModel>>();
        api.MapGet("/configuration", () => Describe(live.Current));
        api.MapPost(
            "/configuration/reload",
            (HttpRequest request, bool? force, CancellationToken cancellationToken) =>
                ReloadAsync(bus, request, new ExchangeMeans(Migrates: false, force == true), cancellationToken)
        );
        api.MapPost(
            "/configuration/migrate",
            (HttpRequest request, bool? force, CancellationToken cancellationToken) =>
                ReloadAsync(bus, request, new ExchangeMeans(Migrates: true, force == true), cancellationToken)
        );
        api.MapPost(
            "/configuration/plan",
            (HttpRequest request, CancellationToken cancellationToken) =>
                PlanAsync(bus.GetRequiredService<RevisionPlan>(), request, cancellationToken)
        );
        return api;
    }

    private static async Task<IResult> PlanAsync(RevisionPlan plan, HttpRequest request, CancellationToken cancellationToken)
    {
        var sent = await JsonBody.ReadAsync<ConfigurationContent>(request, cancellationToken);
        try
        {
            return TypedResults.Ok(await plan.MakeAsync(sent, cancellationToken));
        }
        catch (ConfigurationRefusedException ex)
        {
            return Problems.Refused(ex);
        }
    }

    private static async Task<IResult> ReloadAsync(
        IServiceProvider bus,
        HttpRequest request,
        ExchangeMeans means,
        CancellationToken cancellationToken
    )
    {
        var desk = bus.GetRequiredService<ReloadDesk>();
        try
        {
            return TypedResults.Ok(await desk.ReloadAsync(Operators.DecisionOf(request, reason: null), means, cancellationToken));
        }
        catch (ConfigurationRefusedException ex)
        {
            return Problems.Refused(ex);
        }
    }

    private static object Describe(BusModel model) =>
        new
        {
            model.Configuration.Name,
            model.Revision,
            model.Configuration.HostValues,
            values = model.Configuration.Values.Select(value => new
            {
                value.Path,
                Value = value.Shown,
                Origin = value.Origin.ToString(),
            }),
        };
}
