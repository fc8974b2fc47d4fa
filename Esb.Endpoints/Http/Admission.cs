using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Endpoints.Intake.Overload;

namespace Esb.Endpoints.Http;

/// <summary>Lets calls in to an endpoint: first past what all endpoints of the host share, then to a place of its own, and then once they can be recorded. Thread-safe.</summary>
/// <param name="overload">What all share; null where the calls do not count there.</param>
/// <param name="audit">Whether they can be recorded; null where they are not. Who waits for it keeps its place: so callers behind it are held up as well.</param>
/// <param name="needsTopics">Whether calls publish.</param>
/// <param name="places">The endpoint's own.</param>
internal sealed class Admission(OverloadGate? overload, IAuditGate? audit, bool needsTopics, CallGate places)
{
    /// <summary>Takes a place; <see cref="Leave"/> gives it back.</summary>
    /// <exception cref="EsbException">The host or the endpoint has too much to do, cannot publish, or cannot record.</exception>
    public async ValueTask EnterAsync(CancellationToken cancellationToken)
    {
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

    public void Leave()
    {
        places.Leave();
        overload?.Leave();
    }

    /// <summary>Waits until every call has left. Nobody can enter any more.</summary>
    public Task DrainAsync(CancellationToken cancellationToken) => places.DrainAsync(cancellationToken);
}
