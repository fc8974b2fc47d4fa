using System.CommandLine;
using Esb.Host.Management.Parking;

namespace Esb.Host.Commands.Parking;

/// <summary>The arguments that name a line of parked messages, as listed by <c>esb parked list</c>.</summary>
internal sealed class LineArguments
{
    private readonly Argument<string> _endpoint = new("endpoint") { Description = "The endpoint." };
    private readonly Argument<string> _line = new("line")
    {
        Description = "The key, or * for an endpoint that stands at a message, ~ for messages without a key.",
    };

    public LineArguments(Command command)
    {
        command.Add(_endpoint);
        command.Add(_line);
    }

    public string EndpointOf(ParseResult result) => result.GetRequiredValue(_endpoint);

    public string LineOf(ParseResult result) => result.GetRequiredValue(_line);

    /// <summary>The API path of the line.</summary>
    public string PathOf(ParseResult result)
    {
        var line = LineOf(result);
        if (line is "." or "..")
            line = LineName.Of(line); // clients would resolve them
        return $"api/parked/{Uri.EscapeDataString(EndpointOf(result))}/{Uri.EscapeDataString(line)}";
    }
}
