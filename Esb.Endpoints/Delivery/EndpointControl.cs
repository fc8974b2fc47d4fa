using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Delivery;

/// <summary>Changes the outbound endpoints of this host while they work. Thread-safe.</summary>
internal sealed partial class EndpointControl(OutboundEndpoints endpoints, ILogger<EndpointControl> logger) : IEndpointControl
{
    public IReadOnlyList<string> Check(string endpoint, EndpointTuning tuning) =>
        endpoints.Find(endpoint) is { } controller ? EndpointTunings.Check(controller.Config, tuning) : [Unknown(endpoint)];

    public async Task TuneAsync(string endpoint, EndpointTuning tuning, CancellationToken cancellationToken)
    {
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

    private static string Unknown(string endpoint) => $"There is no outbound endpoint '{endpoint}'.";

    [LoggerMessage(EventId = 2421, Level = LogLevel.Information, Message = "Endpoint {Endpoint} goes on with poolSize {PoolSize}, processingThreads {ProcessingThreads}, prefetch {Prefetch}{Paused}")]
    private partial void LogTuned(string endpoint, int? poolSize, int? processingThreads, int? prefetch, string paused);
}
