using Esb.Configuration.Compiling;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Processes;

namespace Esb.Workflows.Itineraries;

/// <summary>Writes itineraries, and endpoints that attach one, as processes: they are compiled, checked and run as such.</summary>
internal static class ItineraryProcesses
{
    /// <summary>The process of an itinerary: its stops, with a wait before each durable one.</summary>
    public static IEnumerable<KeyValuePair<string, IReadOnlyList<StepConfig>>> Of(
        IReadOnlyDictionary<string, ItineraryConfig> itineraries,
        ConfigErrors errors
    )
    {
        foreach (var (name, itinerary) in itineraries)
        {
            if (itinerary.Stops.Count == 0 && itinerary.IsSound("stops"))
                errors.Add("ESB-CFG-VALUE", itinerary, "stops", "expected at least one stop");
            if (itinerary.Timeout is not null && !itinerary.IsDurable)
                errors.Add("ESB-CFG-VALUE", itinerary, "timeout", "has no effect without a durable stop");
            yield return new(HeldQueues.OfItinerary(name), [.. StepsOf(name, itinerary, errors)]);
        }
    }

    /// <summary>The processes of endpoints that attach an itinerary.</summary>
    public static IEnumerable<KeyValuePair<string, IReadOnlyList<StepConfig>>> Of(IEnumerable<EndpointConfig> endpoints) =>
        endpoints
            .OfType<InboundEndpointConfig>()
            .Where(endpoint => endpoint.Itinerary is not null)
            .Select(endpoint =>
                KeyValuePair.Create<string, IReadOnlyList<StepConfig>>(
                    endpoint.EntryProcess!,
                    [
                        new StepConfig
                        {
                            Kind = ItineraryStep.Name,
                            Settings = endpoint.Itinerary!,
                            Path = $"{endpoint.Path}.itinerary",
                            Origin = endpoint.Itinerary!.Origin,
                        },
                    ]
                )
            );

    private static IEnumerable<StepConfig> StepsOf(string name, ItineraryConfig itinerary, ConfigErrors errors)
    {
        var hash = Fingerprint.Shorten(Fingerprint.Of(itinerary));
        for (var index = 0; index < itinerary.Stops.Count; index++)
        {
            var stop = itinerary.Stops[index];
            var plan = new StopPlan(
                name,
                hash,
                stop,
                [.. itinerary.Stops.Take(index)],
                IsLast: index == itinerary.Stops.Count - 1,
                itinerary.Timeout
            );
            if (stop is { Durable: true, Id: null })
                errors.Add("ESB-CFG-REQUIRED", stop, "id", "is required: messages that wait at a durable stop find it by its id");
            if (stop.Durable)
                yield return StepOf(StopWaitStep.Name, plan, $"{stop.Path}.durable", stop.Id);
            yield return StepOf(StopStep.Name, plan, stop.Path, id: null);
        }
    }

    private static StepConfig StepOf(string kind, StopPlan plan, string path, string? id) =>
        new()
        {
            Kind = kind,
            Settings = plan,
            Path = path,
            Origin = plan.Stop.Origin,
            Id = id,
        };
}
