using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Intake.Holds;

/// <summary>Pauses and resumes the inbound endpoints of this host at run time. Thread-safe.</summary>
internal sealed partial class InboundControl(IntakeHolds holds, InboundEndpoints endpoints, ILogger<InboundControl> logger)
{
    /// <summary>True if an inbound endpoint of this name exists.</summary>
    public bool Knows(string endpoint) => endpoints.Knows(endpoint);

    /// <summary>The errors of a change: one sentence for each setting that an inbound endpoint does not have.</summary>
    public static IReadOnlyList<string> Check(EndpointTuning change) =>
        [.. new[] { ("poolSize", change.PoolSize), ("processingThreads", change.ProcessingThreads), ("prefetch", change.Prefetch) }
            .Where(setting => setting.Item2 is not null)
            .Select(setting => $"{setting.Item1} = {setting.Item2}: expected an outbound endpoint; an inbound one can be paused and resumed")];

    /// <summary>Pauses or resumes an endpoint. If another host runs the single instance, the setting takes effect after a
    /// take-over.</summary>
    /// <exception cref="EsbException"><c>ESB-ENDPOINT-TUNING</c>, with the errors of <see cref="Check"/>.</exception>
    public void Tune(string endpoint, EndpointTuning change)
    {
        if (Check(change) is { Count: > 0 } errors)
            throw new EsbException("ESB-ENDPOINT-TUNING", $"The endpoint '{endpoint}' refuses the change: {string.Join("; ", errors)}.", FaultKind.Invalid);
        if (change.Paused is not { } paused) return;
        holds.Of(endpoint).Pause(paused);
        if (paused) LogPaused(endpoint);
        else LogResumed(endpoint);
    }

    [LoggerMessage(EventId = 2511, Level = LogLevel.Information, Message = "Endpoint {Endpoint} was paused by an operator: it takes nothing in")]
    private partial void LogPaused(string endpoint);

    [LoggerMessage(EventId = 2512, Level = LogLevel.Information, Message = "Endpoint {Endpoint} was resumed by an operator")]
    private partial void LogResumed(string endpoint);
}
