using System.CommandLine;

namespace Esb.Host.Commands.Itineraries;

/// <summary><c>esb itineraries</c></summary>
internal sealed class ItinerariesCommand : Command
{
    public ItinerariesCommand(CommandContext context)
        : base("itineraries", "Shows where messages are on itineraries with durable stops.")
    {
        Add(new ListItinerariesCommand(context));
        Add(new ShowItineraryCommand(context));
    }
}
