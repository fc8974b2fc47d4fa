using Esb.Core.Configuration;
using Esb.Host.Versions;

namespace Esb.Host.Management.Versions;

/// <summary>The versions of the configuration, applied and rolled back while hosts work.</summary>
internal static class VersionRoutes
{
    public static IEndpointRouteBuilder MapVersionRoutes(this IEndpointRouteBuilder api, IServiceProvider bus)
    {
        var desk = bus.GetRequiredService<VersionDesk>();
        api.MapGet("/configuration/versions", (CancellationToken cancellationToken) => desk.ListAsync(cancellationToken));
        api.MapGet(
            "/configuration/versions/{number}",
            (string number, CancellationToken cancellationToken) => desk.ShowAsync(NumberOf("number", number), cancellationToken)
        );
        api.MapGet(
            "/configuration/versions/diff",
            (HttpRequest request, CancellationToken cancellationToken) =>
                desk.DiffAsync(
                    NumberOf("from", request.Query["from"].ToString()),
                    NumberOf("to", request.Query["to"].ToString()),
                    cancellationToken
                )
        );
        api.MapPost(
            "/configuration/apply",
            async (HttpRequest request, CancellationToken cancellationToken) =>
            {
                var applied = await JsonBody.ReadAsync<AppliedConfiguration>(request, cancellationToken);
                var decision = Operators.DecisionOf(request, applied.Reason);
                return await AnswerAsync(() => desk.ApplyAsync(applied, decision, cancellationToken));
            }
        );
        api.MapPost(
            "/configuration/rollback",
            async (HttpRequest request, CancellationToken cancellationToken) =>
            {
                var back = await JsonBody.ReadAsync<RolledBack>(request, cancellationToken);
                var decision = Operators.DecisionOf(request, back.Reason);
                return await AnswerAsync(() => desk.RollBackAsync(back, decision, cancellationToken));
            }
        );
        return api;
    }

    private static async Task<IResult> AnswerAsync<T>(Func<Task<T>> act)
    {
        try
        {
            return TypedResults.Ok(await act());
        }
        catch (ConfigurationRefusedException ex)
        {
            return Problems.Refused(ex);
        }
    }

    private static long NumberOf(string name, string text) =>
        long.TryParse(text, out var number) && number > 0 ? number : throw Problems.Parameter(name, "expected the number of a version");
}
