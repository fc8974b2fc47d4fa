using System.CommandLine;
using Esb.Host.Management.Parking;

namespace Esb.Host.Commands.Parking;

/// <summary>The arguments that name a line of waiting messages, as <c>esb parked list</c> does.</summary>
internal sealed class LineArguments
{
    private readonly Argument<string> _endpoint = new("endpoint") { Description = "The endpoint." };
    private readonly Argument<string> _line = new("line") { Description = "The key, or * for an endpoint that stands at a message, ~ for messages without a key." };

    public LineArguments(Command command)
    {
        command.Add(_endpoint);
        command.Add(_line);
    }

    public string EndpointOf(ParseResult result) => result.GetRequiredValue(_endpoint);

    public string LineOf(ParseResult result) => result.GetRequiredValue(_line);

    /// <summary>Where the line is in the API.</summary>
    public string PathOf(ParseResult result) => $"api/parked/{Uri.EscapeDataString(EndpointOf(result))}/{Uri.EscapeDataString(LineOf(result) is "." or ".." ? LineName.Of(LineOf(result)) : LineOf(result))}";
}
