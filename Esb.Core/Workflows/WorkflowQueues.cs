using Esb.Core.Topics;

namespace Esb.Core.Workflows;

/// <summary>Names under which workflows receive: a workflow is a subscriber beside the endpoints.</summary>
public static class WorkflowQueues
{
    /// <summary>Prefix of the names of workflows among subscribers; no endpoint has such a name.</summary>
    public const string Prefix = "workflow:";

    /// <summary>The name of a workflow among subscribers, in facts and in dead letters.</summary>
    public static string SubscriberOf(string workflow) => Prefix + workflow;

    /// <summary>The workflow of a subscriber; null if the subscriber is an endpoint.</summary>
    public static string? WorkflowOf(string subscriber) =>
        subscriber.StartsWith(Prefix, StringComparison.Ordinal) ? subscriber[Prefix.Length..] : null;
}

/// <summary>The subscriptions of all workflows of a revision. Immutable.</summary>
/// <param name="All">One for each workflow that subscribes to something.</param>
public sealed record WorkflowSubscriptions(IReadOnlyList<Subscription> All);
