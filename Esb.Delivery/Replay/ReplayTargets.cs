using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Replays;
using Esb.Core.Storage;

namespace Esb.Delivery.Replay;

/// <summary>Which endpoints can be sent dead letters, and which want to be asked first.</summary>
internal sealed class ReplayTargets(Live<EndpointModels> endpoints)
{
    /// <summary>In which order the endpoint delivers; in none where it is not there any more.</summary>
    public DeliveryMode ModeOf(string endpoint) => Find(endpoint)?.Delivery ?? DeliveryMode.Parallel;

    /// <summary>What keeps these letters from being sent as asked; nothing, mostly.</summary>
    public IEnumerable<EsbException> Obstacles(ReplayRequest request, IEnumerable<DeadLetterGroup> letters)
    {
        var targets = request.Redirect is { } redirect ? [redirect] : letters.Select(group => group.Endpoint).Distinct().Order(StringComparer.Ordinal).ToList();
        return targets.Select(target => ObstacleAt(target, request.OutOfOrder)).OfType<EsbException>();
    }

    /// <summary>What keeps messages from being sent to an endpoint; null where nothing does.</summary>
    public EsbException? ObstacleAt(string target, bool outOfOrder)
    {
        if (Find(target) is not { } config)
            return Refused("ESB-REPLAY-ENDPOINT", $"There is no outbound endpoint '{target}'; name another one{NearestName.Hint(target, endpoints.Current.Outbound.Select(endpoint => endpoint.Config.Name))}", 422);
        if (!config.Enabled || config.Subscribe.Count == 0)
            return Refused("ESB-REPLAY-ENDPOINT", $"The endpoint '{target}' is {(config.Enabled ? "called only and subscribes to nothing" : "not enabled")}: it has no queue. Name another one.", 422);

        // Only where failed messages do not park their key there are dead letters at all, so that later messages went past these.
        return config.Delivery == DeliveryMode.Parallel || outOfOrder
            ? null
            : Refused("ESB-REPLAY-ORDER", $"The endpoint '{target}' delivers in order, and later messages may have gone past these. Say outOfOrder to send them all the same.", 409);
    }

    private OutboundEndpointConfig? Find(string endpoint) => endpoints.Current.Outbound.FirstOrDefault(model => model.Config.Name == endpoint)?.Config;

    private static EsbException Refused(string code, string message, int status) => new(code, message, FaultKind.Invalid) { Status = status };
}
