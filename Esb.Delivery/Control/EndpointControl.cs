using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Delivery.Intake.Holds;
using Esb.Delivery.Outbound;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Control;

/// <summary>Changes the endpoints of this host at run time; inbound endpoints can only be paused, resumed and recorded less or more.
/// Thread-safe.</summary>
internal sealed partial class EndpointControl(
    OutboundEndpoints endpoints,
    InboundControl inbound,
    TunedEndpoints tunedEndpoints,
    ILogger<EndpointControl> logger
) : IEndpointControl
{
    public IReadOnlyList<string> Check(string endpoint, EndpointTuning tuning) =>
        endpoints.Find(endpoint) is { } controller ? EndpointTunings.Check(controller.Model.Config, tuning)
        : inbound.Knows(endpoint) ? InboundControl.Check(tuning)
        : [UnknownText(endpoint)];

    public EndpointTuning? ConfiguredOf(string endpoint) => endpoints.Find(endpoint)?.Configured ?? inbound.ConfiguredOf(endpoint);

    public IReadOnlyList<string> SetAsideOf(string endpoint) =>
        ConfiguredOf(endpoint) is null ? [] : Check(endpoint, tunedEndpoints.Of(endpoint));

    public Task TuneAsync(string endpoint, EndpointTuning tuning, CancellationToken cancellationToken)
    {
        var configured = ConfiguredOf(endpoint) ?? throw Unknown(endpoint);
        var merged = EndpointTunings.Merge(configured, tunedEndpoints.Of(endpoint), tuning);
        if (Check(endpoint, tuning) is { Count: > 0 } errors)
            throw new EsbException(
                "ESB-ENDPOINT-TUNING",
                $"The endpoint '{endpoint}' refuses the change: {string.Join("; ", errors)}.",
                FaultKind.Invalid
            );
        if (tuning.Paused == false)
            endpoints.Find(endpoint)?.Release();
        return SetAsync(endpoint, merged, cancellationToken);
    }

    public async Task SetAsync(string endpoint, EndpointTuning tuned, CancellationToken cancellationToken)
    {
        tunedEndpoints.Set(endpoint, tuned);
        if (inbound.Knows(endpoint))
        {
            inbound.Set(endpoint, tuned);
            return;
        }

        await endpoints.RetuneAsync(endpoint, cancellationToken);
        if (endpoints.Find(endpoint)?.Status.Current is { } current)
            LogTuned(endpoint, current.PoolSize, current.ProcessingThreads, current.Prefetch, current.Paused == true ? ", paused" : "");
    }

    public Task<bool> MoveOnAsync(
        string endpoint,
        Guid messageId,
        bool discard,
        OperatorDecision? decision,
        CancellationToken cancellationToken
    )
    {
        var controller = endpoints.Find(endpoint) ?? throw Unknown(endpoint);
        return Task.FromResult(controller.TryMoveOn(messageId, discard, decision));
    }

    private static EsbException Unknown(string endpoint) => new("ESB-ENDPOINT-UNKNOWN", UnknownText(endpoint), FaultKind.Invalid);

    private static string UnknownText(string endpoint) => $"There is no endpoint '{endpoint}'.";

    [LoggerMessage(
        EventId = 2421,
        Level = LogLevel.Information,
        Message = "Endpoint {Endpoint} now runs with poolSize {PoolSize}, processingThreads {ProcessingThreads}, prefetch "
            + "{Prefetch}{Paused}"
    )]
    private partial void LogTuned(string endpoint, int? poolSize, int? processingThreads, int? prefetch, string paused);
}
