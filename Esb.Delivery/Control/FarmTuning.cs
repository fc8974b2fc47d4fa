using Esb.Core;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Topics;
using Esb.Delivery.Outbound;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Control;

/// <summary>Broadcasts endpoint changes to all hosts, and applies those received.</summary>
internal sealed partial class FarmTuning(IFarm farm, IEndpointControl control, ILogger<FarmTuning> logger) : IFarmTuning, IBusPart
{
    private IDisposable? _hearing;

    public BusStage Stage => BusStage.Outbound;

    public IReadOnlyList<Type> StartsAfter => [typeof(OutboundEndpoints)];

    public Task StartAsync(CancellationToken cancellationToken)
    {
        _hearing = farm.Subscribe<TuneEndpoint>(ObeyAsync);
        return Task.CompletedTask;
    }

    public Task StopAsync(CancellationToken cancellationToken)
    {
        _hearing?.Dispose();
        return Task.CompletedTask;
    }

    public async Task<IReadOnlyList<FarmHost>> TuneAsync(string endpoint, EndpointTuning tuning, CancellationToken cancellationToken)
    {
        await control.TuneAsync(endpoint, tuning, cancellationToken);
        await farm.BroadcastAsync(new TuneEndpoint(endpoint, tuning), cancellationToken);
        return farm.Hosts;
    }

    private async Task ObeyAsync(Guid from, TuneEndpoint command, CancellationToken cancellationToken)
    {
        if (from == farm.Self.Id) return; // already applied
        try
        {
            await control.TuneAsync(command.Endpoint, command.Tuning, cancellationToken);
        }
        catch (EsbException ex)
        {
            LogRefused(command.Endpoint, ex.Code, ex.Message); // the configurations of the two hosts differ
        }
    }

    [LoggerMessage(EventId = 2445, Level = LogLevel.Warning, Message = "Endpoint {Endpoint} was not changed as another host of the farm was: {Code}: {Reason}")]
    private partial void LogRefused(string endpoint, string code, string reason);
}
