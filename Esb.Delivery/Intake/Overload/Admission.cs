using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Delivery.Intake.Holds;

namespace Esb.Delivery.Intake.Overload;

/// <summary>Admits messages at an inbound endpoint: unless a pause or its schedule holds it, within the limits that all endpoints of the
/// host share, to a slot of the endpoint, and once they can be recorded. Thread-safe.</summary>
/// <remarks>Callers that can retry later use <see cref="EnterAsync"/>; endpoints whose messages can stay in their source use
/// <see cref="WaitAsync"/>.</remarks>
/// <param name="overload">The limits shared by all endpoints; null if these messages do not count towards them.</param>
/// <param name="audit">Indicates whether messages can be recorded; null if they are not recorded. A caller that waits for the audit keeps
/// its slot and so delays later callers.</param>
/// <param name="needsTopics">True if messages are published.</param>
/// <param name="places">The slots of the endpoint.</param>
/// <param name="hold">An operator's pause and the schedule; null if neither applies.</param>
public sealed class Admission(OverloadGate? overload, IAuditGate? audit, bool needsTopics, CallGate places, IntakeHold? hold = null)
{
    /// <summary>Acquires a slot; <see cref="Leave"/> releases it.</summary>
    /// <exception cref="EsbException">The endpoint is held, the host or the endpoint is overloaded, or messages cannot be published or
    /// recorded.</exception>
    public async ValueTask EnterAsync(CancellationToken cancellationToken)
    {
        hold?.Enter();
        overload?.Enter(needsTopics);
        try
        {
            await places.EnterAsync(cancellationToken);
        }
        catch
        {
            overload?.Leave();
            throw;
        }

        try
        {
            if (audit is not null)
                await audit.EnterAsync(cancellationToken);
        }
        catch
        {
            Leave();
            throw;
        }
    }

    /// <summary>Acquires a slot once one is free and nothing holds messages back; <see cref="Leave"/> releases it.</summary>
    public async ValueTask WaitAsync(CancellationToken cancellationToken)
    {
        while (true)
        {
            if (hold is not null)
                await hold.WaitAsync(cancellationToken);
            await WaitForPlaceAsync(cancellationToken);
            if (hold is null or { IsOpen: true })
                return;
            Leave(); // held while it waited for a slot
        }
    }

    public void Leave()
    {
        places.Leave();
        overload?.Leave();
    }

    /// <summary>Waits until every admitted message has left. No further message is admitted.</summary>
    public Task DrainAsync(CancellationToken cancellationToken) => places.DrainAsync(cancellationToken);

    private async ValueTask WaitForPlaceAsync(CancellationToken cancellationToken)
    {
        await places.WaitAsync(cancellationToken);
        try
        {
            if (audit is not null)
                await audit.WaitAsync(cancellationToken);
            if (overload is not null)
                await overload.WaitAsync(needsTopics, cancellationToken);
        }
        catch
        {
            places.Leave();
            throw;
        }
    }
}
