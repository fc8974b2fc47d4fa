using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Delivery.Intake.Holds;

namespace Esb.Delivery.Intake.Overload;

/// <summary>Makes the admission that every inbound endpoint asks, whatever its protocol.</summary>
public sealed class Admissions(OverloadGate overload, IAuditGate audit, IntakeHolds holds, TimeProvider time)
{
    private const int WithoutBound = 100_000; // for types that set none of their own

    /// <summary>The admission of an endpoint.</summary>
    /// <param name="config">The endpoint; says how many messages it works on at once.</param>
    /// <param name="needsTopics">Whether it publishes, so that it waits for the topics.</param>
    /// <param name="holdsMessages">Whether its messages count among those of the host; not so where they only stream through.</param>
    /// <param name="isRecorded">Whether the audit records them.</param>
    public Admission Of(InboundEndpointConfig config, bool needsTopics, bool holdsMessages = true, bool isRecorded = true)
    {
        var hold = holds.Of(config.Name);
        hold.Keep(config);
        return new Admission(holdsMessages ? overload : null, isRecorded ? audit : null, needsTopics, new CallGate(config.CallsAtOnce ?? WithoutBound, time), hold);
    }
}
