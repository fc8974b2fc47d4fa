using Esb.Audit.Journeys;
using Esb.Audit.Journeys.Drawing;

namespace Esb.Host.Management.Messages;

/// <summary>Ways to show a journey.</summary>
internal enum JourneyFormat
{
    /// <summary>As a tree for programs, with the facts.</summary>
    Json,

    /// <summary>As a tree for people.</summary>
    Text,

    /// <summary>As a sequence diagram, in the language of Mermaid.</summary>
    Mermaid,

    /// <summary>As a sequence diagram that a browser shows.</summary>
    Svg,
}

/// <summary>Draws journeys.</summary>
internal static class JourneyFormats
{
    public static string Draw(Journey journey, JourneyFormat format) => format switch
    {
        JourneyFormat.Text => TextDrawing.Draw(journey),
        JourneyFormat.Mermaid => MermaidDrawing.Draw(journey),
        JourneyFormat.Svg => SvgDrawing.Draw(journey),
        _ => throw new ArgumentOutOfRangeException(nameof(format)),
    };
}
