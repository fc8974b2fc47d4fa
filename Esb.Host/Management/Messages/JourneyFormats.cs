using Esb.Audit.Journeys;
using Esb.Audit.Journeys.Drawing;

namespace Esb.Host.Management.Messages;

/// <summary>The output formats of a journey.</summary>
internal enum JourneyFormat
{
    /// <summary>A tree for programs, with the facts.</summary>
    Json,

    /// <summary>A tree for people.</summary>
    Text,

    /// <summary>A sequence diagram in Mermaid syntax.</summary>
    Mermaid,

    /// <summary>A sequence diagram for browsers.</summary>
    Svg,
}

/// <summary>Renders journeys.</summary>
internal static class JourneyFormats
{
    public static string Draw(Journey journey, JourneyFormat format) =>
        format switch
        {
            JourneyFormat.Text => TextDrawing.Draw(journey),
            JourneyFormat.Mermaid => MermaidDrawing.Draw(journey),
            JourneyFormat.Svg => SvgDrawing.Draw(journey),
            _ => throw new ArgumentOutOfRangeException(nameof(format)),
        };
}
