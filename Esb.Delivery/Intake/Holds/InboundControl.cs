using Esb.Core.Endpoints;
using Esb.Delivery.Control;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Intake.Holds;

/// <summary>Pauses and resumes the inbound endpoints of this host at run time. Thread-safe.</summary>
internal sealed partial class InboundControl(IntakeHolds holds, InboundEndpoints endpoints, ILogger<InboundControl> logger)
{
    /// <summary>True if an inbound endpoint of this name exists.</summary>
    public bool Knows(string endpoint) => endpoints.Knows(endpoint);

    /// <summary>The settings of an endpoint that can be tuned, as configured; null if it does not exist.</summary>
    public EndpointTuning? ConfiguredOf(string endpoint) => endpoints.ConfigOf(endpoint) is { } config ? EndpointTunings.Of(config) : null;

    /// <summary>The errors of a change: one sentence for each setting that an inbound endpoint does not have.</summary>
    public static IReadOnlyList<string> Check(EndpointTuning change) =>
        [
            .. TuningValues
                .Of(change with { Paused = null, Audit = null })
                .Select(setting =>
                    $"{setting.Key} = {setting.Value}: expected an outbound endpoint; an inbound one can be paused and resumed, and "
                    + $"recorded less or more"
                ),
        ];

    /// <summary>Pauses or resumes an endpoint. If another host runs the single instance, the setting takes effect after a
    /// take-over.</summary>
    public void Set(string endpoint, EndpointTuning tuned)
    {
        var (hold, paused) = (holds.Of(endpoint), tuned.Paused == true);
        if (hold.IsPaused == paused)
            return;
        hold.Pause(paused);
        if (paused)
            LogPaused(endpoint);
        else
            LogResumed(endpoint);
    }

    [LoggerMessage(
        EventId = 2511,
        Level = LogLevel.Information,
        Message = "Endpoint {Endpoint} was paused by an operator: it takes nothing in"
    )]
    private partial void LogPaused(string endpoint);

    [LoggerMessage(EventId = 2512, Level = LogLevel.Information, Message = "Endpoint {Endpoint} was resumed by an operator")]
    private partial void LogResumed(string endpoint);
}
