using Esb.Core.Configuration;
using Esb.Core.Itineraries;
using Esb.Core.Processes;

namespace Esb.Host.Management.Itineraries;

/// <summary>Shows where messages are on itineraries with durable stops.</summary>
internal static class ItineraryRoutes
{
    public static IEndpointRouteBuilder MapItineraryRoutes(this IEndpointRouteBuilder api, IServiceProvider bus)
    {
        var (runs, processes) = (bus.GetRequiredService<IItineraryRuns>(), bus.GetRequiredService<Live<ProcessModels>>());
        var itineraries = api.MapGroup("/itineraries");
        itineraries.MapGet("", (HttpRequest request, CancellationToken cancellationToken) => ListAsync(runs, request, cancellationToken));
        itineraries.MapGet("/{id}", (string id, CancellationToken cancellationToken) => ShowAsync(runs, processes, id, cancellationToken));
        return api;
    }

    private static async Task<Page<ItineraryView>> ListAsync(IItineraryRuns runs, HttpRequest request, CancellationToken cancellationToken)
    {
        var query = new QueryReader(request.Query).Allow("name", "state", "stop", "after", "limit");
        var limit = query.PageSize();
        var found = await runs.ListAsync(
            new ItineraryQuery
            {
                Itinerary = query.Text("name"),
                State = query.Choice<ItineraryState>("state"),
                Stop = query.Text("stop"),
                After = query.Id("after"),
                Limit = limit,
            },
            cancellationToken
        );
        return new Page<ItineraryView>([.. found.Select(ItineraryView.Of)], found.Count == limit ? found[^1].MessageId.ToString() : null);
    }

    private static async Task<ItineraryView> ShowAsync(
        IItineraryRuns runs,
        Live<ProcessModels> processes,
        string id,
        CancellationToken cancellationToken
    )
    {
        var run =
            await runs.FindAsync(Problems.RequireId(id), cancellationToken)
            ?? throw Problems.NotFound($"Message {id} is on no itinerary with durable stops.");
        return ItineraryView.Of(run) with { Stops = processes.Current.Find(HeldQueues.OfItinerary(run.Itinerary))?.Description };
    }
}
