using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Replays;
using Esb.Core.Storage;
using Esb.Core.Workflows;

namespace Esb.Delivery.Replay;

/// <summary>Decides which endpoints accept dead letters, and which require confirmation.</summary>
internal sealed class ReplayTargets(Live<EndpointModels> endpoints, Live<WorkflowSubscriptions>? workflows = null)
{
    /// <summary>The delivery order of the endpoint; unordered if it no longer exists.</summary>
    public DeliveryMode ModeOf(string endpoint) => Find(endpoint)?.Delivery ?? DeliveryMode.Parallel;

    /// <summary>The obstacles to sending these letters as requested; usually none.</summary>
    public IEnumerable<EsbException> Obstacles(ReplayRequest request, IEnumerable<DeadLetterGroup> letters)
    {
        var targets = request.Redirect is { } redirect
            ? [redirect]
            : letters.Select(group => group.Endpoint).Distinct().Order(StringComparer.Ordinal).ToList();
        return targets.Select(target => ObstacleAt(target, request.OutOfOrder)).OfType<EsbException>();
    }

    /// <summary>The obstacle to sending messages to an endpoint; null if it accepts them.</summary>
    public EsbException? ObstacleAt(string target, bool outOfOrder)
    {
        if (
            WorkflowQueues.WorkflowOf(target) is not null
            && workflows?.Current.All.Any(subscription => subscription.Endpoint == target) == true
        )
            return null; // its instances are found by their keys
        if (Find(target) is not { } config)
            return Refused(
                "ESB-REPLAY-ENDPOINT",
                $"There is no outbound endpoint '{target}'; name another "
                    + $"one{NearestName.Hint(target, endpoints.Current.Outbound.Select(endpoint => endpoint.Config.Name))}",
                422
            );
        if (!config.Enabled || !config.HasQueue)
            return Refused(
                "ESB-REPLAY-ENDPOINT",
                $"The endpoint '{target}' is {(config.Enabled ? "called only and subscribes to nothing" : "not enabled")}: it has "
                    + $"no queue. Name another one.",
                422
            );

        // Ordered endpoints create dead letters only if failed messages do not park their key, so later messages have already overtaken
        // these.
        return config.Delivery == DeliveryMode.Parallel || outOfOrder
            ? null
            : Refused(
                "ESB-REPLAY-ORDER",
                $"The endpoint '{target}' delivers in order, and later messages may have gone past these. Say outOfOrder to send "
                    + $"them all the same.",
                409
            );
    }

    private OutboundEndpointConfig? Find(string endpoint) =>
        endpoints.Current.Outbound.FirstOrDefault(model => model.Config.Name == endpoint)?.Config;

    private static EsbException Refused(string code, string message, int status) =>
        new(code, message, FaultKind.Invalid) { Status = status };
}
