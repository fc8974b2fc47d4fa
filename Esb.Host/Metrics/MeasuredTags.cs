using Esb.Core.Diagnostics;
using Esb.Core.Topics;

namespace Esb.Host.Metrics;

/// <summary>The tags that identify the subject of a measurement.</summary>
internal readonly ref struct MeasuredTags
{
    public MeasuredTags(ReadOnlySpan<KeyValuePair<string, object?>> tags)
    {
        foreach (var (key, value) in tags)
        {
            switch (key)
            {
                case EsbTelemetry.Tags.Endpoint:
                    Endpoint = value as string;
                    break;
                case EsbTelemetry.Tags.Topic:
                    Topic = value as string;
                    break;
                case EsbTelemetry.Tags.Party:
                    Party = value as string;
                    break;
                case EsbTelemetry.Tags.Workflow:
                    Workflow = value as string;
                    break;
                case EsbTelemetry.Tags.Outcome:
                    Outcome = value as string;
                    break;
                case EsbTelemetry.Tags.Destination:
                    Topic = value is string subject ? TopicNames.Of(subject) : null;
                    break;
                case EsbTelemetry.Tags.ErrorType:
                    HasFailed = true;
                    break;
            }
        }
    }

    public string? Endpoint { get; }

    public string? Topic { get; }

    public string? Party { get; }

    public string? Workflow { get; }

    public string? Outcome { get; }

    public bool HasFailed { get; }
}
