using System.CommandLine;
using Esb.Host.Management.Itineraries;

namespace Esb.Host.Commands.Itineraries;

/// <summary><c>esb itineraries show MESSAGE</c></summary>
internal sealed class ShowItineraryCommand : Command
{
    private readonly Argument<Guid> _id = new("message") { Description = "The message." };
    private readonly HostOptions _host;

    public ShowItineraryCommand(CommandContext context)
        : base("show", "Shows where a message is, with the stops of its itinerary, as JSON.")
    {
        Add(_id);
        _host = new HostOptions(this);
        SetAction((result, cancellationToken) => ShowAsync(result, context, cancellationToken));
    }

    private async Task<int> ShowAsync(ParseResult result, CommandContext context, CancellationToken cancellationToken)
    {
        using var client = _host.Connect(result, context);
        context.Output.WriteLine(
            CommandJson.Write(await client.GetAsync<ItineraryView>($"api/itineraries/{result.GetRequiredValue(_id)}", cancellationToken))
        );
        return ExitCode.Done;
    }
}
