using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Delivery.Intake.Holds;

namespace Esb.Delivery.Intake.Overload;

/// <summary>Creates the admission of every inbound endpoint, independent of the protocol.</summary>
public sealed class Admissions(OverloadGate overload, IAuditGate audit, IntakeHolds holds, TimeProvider time)
{
    private const int WithoutBound = 100_000; // for endpoint types without a limit of their own

    /// <summary>The admission of an endpoint.</summary>
    /// <param name="config">The endpoint, with its maximum number of concurrent messages.</param>
    /// <param name="needsTopics">True if the endpoint publishes, so that it waits for the topics.</param>
    /// <param name="holdsMessages">True if its messages count towards the limits of the host; false if they only stream through.</param>
    /// <param name="isRecorded">True if the audit records them.</param>
    public Admission Of(InboundEndpointConfig config, bool needsTopics, bool holdsMessages = true, bool isRecorded = true)
    {
        var hold = holds.Of(config.Name);
        hold.Keep(config);
        return new Admission(
            holdsMessages ? overload : null,
            isRecorded ? audit : null,
            needsTopics,
            new CallGate(config.CallsAtOnce ?? WithoutBound, time),
            hold
        );
    }
}
