using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Delivery.Intake.Holds;
using Esb.Delivery.Outbound;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Control;

/// <summary>Changes the endpoints of this host at run time; inbound endpoints can only be paused and resumed. Thread-safe.</summary>
internal sealed partial class EndpointControl(OutboundEndpoints endpoints, InboundControl inbound, ILogger<EndpointControl> logger) : IEndpointControl
{
    public IReadOnlyList<string> Check(string endpoint, EndpointTuning tuning) =>
        endpoints.Find(endpoint) is { } controller ? EndpointTunings.Check(controller.Config, tuning)
        : inbound.Knows(endpoint) ? InboundControl.Check(tuning)
        : [Unknown(endpoint)];

    public async Task TuneAsync(string endpoint, EndpointTuning tuning, CancellationToken cancellationToken)
    {
        if (inbound.Knows(endpoint))
        {
            inbound.Tune(endpoint, tuning);
            return;
        }

        var controller = endpoints.Find(endpoint) ?? throw new EsbException("ESB-ENDPOINT-UNKNOWN", Unknown(endpoint), FaultKind.Invalid);
        if (EndpointTunings.Check(controller.Config, tuning) is { Count: > 0 } errors)
            throw new EsbException("ESB-ENDPOINT-TUNING", $"The endpoint '{endpoint}' refuses the change: {string.Join("; ", errors)}.", FaultKind.Invalid);
        await controller.TuneAsync(tuning, cancellationToken);
        var current = controller.Status.Current!;
        LogTuned(endpoint, current.PoolSize, current.ProcessingThreads, current.Prefetch, current.Paused == true ? ", paused" : "");
    }

    public Task<bool> MoveOnAsync(string endpoint, Guid messageId, bool discard, OperatorDecision? decision, CancellationToken cancellationToken)
    {
        var controller = endpoints.Find(endpoint) ?? throw new EsbException("ESB-ENDPOINT-UNKNOWN", Unknown(endpoint), FaultKind.Invalid);
        return Task.FromResult(controller.TryMoveOn(messageId, discard, decision));
    }

    private static string Unknown(string endpoint) => $"There is no endpoint '{endpoint}'.";

    [LoggerMessage(EventId = 2421, Level = LogLevel.Information, Message = "Endpoint {Endpoint} now runs with poolSize {PoolSize}, processingThreads {ProcessingThreads}, prefetch {Prefetch}{Paused}")]
    private partial void LogTuned(string endpoint, int? poolSize, int? processingThreads, int? prefetch, string paused);
}
