using System.Diagnostics;
using Esb.Core.Diagnostics;
using Esb.Delivery;

namespace Esb.Endpoints.Brokers;

/// <summary>The span of a delivery, as part of the sender's trace.</summary>
internal static class BrokerSpan
{
    private const string System = "rabbitmq";
    private const string Operation = "process";

    public static Activity? Start(string endpoint, IncomingDelivery delivery)
    {
        var activity = EndpointsTelemetry.Source.StartActivity($"{Operation} {endpoint}", ActivityKind.Consumer, delivery.Parent);
        if (activity is null)
            return Continue(delivery.Parent);
        if (!activity.IsAllDataRequested)
            return activity;
        return activity
            .SetTag(EsbTelemetry.Tags.System, System)
            .SetTag(EsbTelemetry.Tags.OperationType, Operation)
            .SetTag(EsbTelemetry.Tags.OperationName, Operation)
            .SetTag(EsbTelemetry.Tags.MessageId, delivery.Message.Id)
            .SetTag(EsbTelemetry.Tags.ConversationId, delivery.Message.ConversationId)
            .SetTag(EsbTelemetry.Tags.Endpoint, endpoint);
    }

    // Where no listener records spans, topics, external systems and audit facts still get the trace of the sender.
    private static Activity? Continue(ActivityContext parent) =>
        parent == default
            ? null
            : new Activity(Operation) { TraceStateString = parent.TraceState }
                .SetParentId(parent.TraceId, parent.SpanId, parent.TraceFlags)
                .Start();
}
