using Esb.Core.Topics;
using Esb.Core.Workflows;
using Esb.Workflows.Workflows.Compiling;

namespace Esb.Workflows.Workflows.Running;

/// <summary>The subscription of a workflow: lanes by order key, as of an endpoint that delivers in order by key. In a lane, messages
/// that may concern different instances are worked on at once.</summary>
internal static class WorkflowSubscription
{
    // So many share a checkpoint at best.
    private const int AtOnceInLane = 32;

    public static Subscription Of(WorkflowModel model) =>
        new(
            WorkflowQueues.SubscriberOf(model.Name),
            [.. model.Subjects],
            Concurrency: model.Config.Lanes * AtOnceInLane,
            Prefetch: AtOnceInLane,
            SingleActive: false,
            new QueueConfig(),
            RetryDelays: []
        )
        {
            Lanes = model.Config.Lanes,
            Answers = true,
            Publishes = false, // what it publishes is in the store before the message is settled
        };
}
