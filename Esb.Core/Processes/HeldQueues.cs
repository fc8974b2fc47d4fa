namespace Esb.Core.Processes;

/// <summary>Names of the queues in which messages continue that the bus itself held.</summary>
public static class HeldQueues
{
    /// <summary>Prefix of the names of processes among subscribers; no endpoint has such a name.</summary>
    public const string ProcessPrefix = "process:";

    /// <summary>Prefix of the names of itineraries among subscribers; no endpoint has such a name.</summary>
    public const string ItineraryPrefix = "itinerary:";

    /// <summary>The name of a process among subscribers, in facts and in dead letters.</summary>
    public static string OfProcess(string process) =>
        process.StartsWith(ItineraryPrefix, StringComparison.Ordinal) ? process : ProcessPrefix + process;

    /// <summary>The name of an itinerary among subscribers and processes, in facts and in dead letters.</summary>
    public static string OfItinerary(string itinerary) => ItineraryPrefix + itinerary;
}
