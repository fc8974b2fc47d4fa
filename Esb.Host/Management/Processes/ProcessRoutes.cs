using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Core.Configuration;
using Esb.Core.Processes;
using Esb.Core.Processes.Tracing;

namespace Esb.Host.Management.Processes;

/// <summary>Shows the processes of the running configuration, on which recorded messages are painted.</summary>
internal static class ProcessRoutes
{
    public static IEndpointRouteBuilder MapProcessRoutes(this IEndpointRouteBuilder api, IServiceProvider bus)
    {
        var (processes, live) = (bus.GetRequiredService<Live<ProcessModels>>(), bus.GetRequiredService<Live<BusModel>>());
        api.MapGet("/processes/{name}", (string name) => Show(processes.Current, name, live.Current.Revision));
        return api;
    }

    private static ProcessView Show(ProcessModels processes, string name, string revision)
    {
        var process =
            processes.Find(name)
            ?? throw Problems.NotFound(
                $"There is no process '{name}'{NearestName.Hint(name, [.. processes.All.Select(process => process.Name)])}"
            );
        return new ProcessView(process.Name, revision, TracedProcess.Of(process).Steps);
    }
}

/// <summary>A process in API responses.</summary>
/// <param name="Name">Its name.</param>
/// <param name="Revision">The revision of the running configuration.</param>
/// <param name="Steps">Its steps, each with the lists in it, such as its branches.</param>
internal sealed record ProcessView(string Name, string Revision, IReadOnlyList<PlannedStep> Steps);
