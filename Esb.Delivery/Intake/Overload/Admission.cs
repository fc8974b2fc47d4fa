using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Delivery.Intake.Holds;

namespace Esb.Delivery.Intake.Overload;

/// <summary>Lets messages in at an inbound endpoint: while neither an operator nor its schedule holds it, past the limits that all
/// endpoints of the host share, to a place of its own, and once they can be recorded. Thread-safe.</summary>
/// <remarks>Callers who can be told to come back <see cref="EnterAsync"/>; an endpoint whose messages can stay where they are
/// <see cref="WaitAsync"/>s.</remarks>
/// <param name="overload">The limits that all share; null where the messages do not count there.</param>
/// <param name="audit">Whether they can be recorded; null where they are not. A caller who waits for it keeps its place, so those behind it
/// are held up as well.</param>
/// <param name="needsTopics">Whether messages are published.</param>
/// <param name="places">The endpoint's own.</param>
/// <param name="hold">An operator's pause, and the schedule; null where there is neither.</param>
public sealed class Admission(OverloadGate? overload, IAuditGate? audit, bool needsTopics, CallGate places, IntakeHold? hold = null)
{
    /// <summary>Takes a place; <see cref="Leave"/> gives it back.</summary>
    /// <exception cref="EsbException">The endpoint is held; or the host or the endpoint has too much to do, cannot publish, or cannot
    /// record.</exception>
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
            if (audit is not null) await audit.EnterAsync(cancellationToken);
        }
        catch
        {
            Leave();
            throw;
        }
    }

    /// <summary>Takes a place as soon as there is one and nothing holds messages back; <see cref="Leave"/> gives it back.</summary>
    public async ValueTask WaitAsync(CancellationToken cancellationToken)
    {
        while (true)
        {
            if (hold is not null) await hold.WaitAsync(cancellationToken);
            await WaitForPlaceAsync(cancellationToken);
            if (hold is null or { IsOpen: true }) return;
            Leave(); // held while it waited
        }
    }

    public void Leave()
    {
        places.Leave();
        overload?.Leave();
    }

    /// <summary>Waits until every message that was let in has left. Nothing can enter any more.</summary>
    public Task DrainAsync(CancellationToken cancellationToken) => places.DrainAsync(cancellationToken);

    private async ValueTask WaitForPlaceAsync(CancellationToken cancellationToken)
    {
        await places.WaitAsync(cancellationToken);
        try
        {
            if (audit is not null) await audit.WaitAsync(cancellationToken);
            if (overload is not null) await overload.WaitAsync(needsTopics, cancellationToken);
        }
        catch
        {
            places.Leave();
            throw;
        }
    }
}
