using Esb.Configuration.Revisions;
using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Topics;
using Esb.Core.Workflows;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Topics;

/// <summary>Starts and stops the transport with the bus, and reports whether it can accept messages.</summary>
internal sealed class TopicsPart(ITopicTransport transport) : IBusPart, IRevisionPart, IHealthCheck, IHealthNotices
{
    public BusStage Stage => BusStage.Topics;

    public string Name => "topics";

    public IEnumerable<string> Notices =>
        transport.Abandoned.Select(one =>
            $"{(one.Waiting == 1 ? "1 message waits" : $"{one.Waiting} messages wait")} in the queues of the endpoint "
            + $"{one.Endpoint}, which was removed; an endpoint of that name takes them up"
        );

    public Task StartAsync(CancellationToken cancellationToken) => transport.StartAsync(cancellationToken);

    public Task StopAsync(CancellationToken cancellationToken) => transport.DisposeAsync().AsTask();

    public Task WelcomeAsync(Revision next, CancellationToken cancellationToken) =>
        transport.ChangeAsync(
            next.Services.GetRequiredService<IReadOnlyDictionary<string, TopicConfig>>(),
            SubscriptionsOf(next.Services),
            cancellationToken
        );

    /// <summary>The subscriptions of all endpoints and workflows of a revision.</summary>
    public static IReadOnlyList<Subscription> SubscriptionsOf(IServiceProvider services) =>
        [
            .. services.GetRequiredService<EndpointModels>().Outbound.Select(model => Subscription.Of(model.Config)),
            .. services.GetService<WorkflowSubscriptions>()?.All ?? [],
        ];

    public ValueTask<string?> CheckAsync(CancellationToken cancellationToken)
    {
        var status = transport.Status;
        return ValueTask.FromResult(status.IsReady ? null : status.Reason ?? "not ready");
    }
}
