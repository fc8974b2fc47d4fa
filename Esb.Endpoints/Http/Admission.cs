using Esb.Core.Errors;
using Esb.Endpoints.Intake.Overload;

namespace Esb.Endpoints.Http;

/// <summary>Lets calls in to an endpoint: first past what all endpoints of the host share, then to a place of its own. Thread-safe.</summary>
/// <param name="overload">What all share; null where the calls do not count there.</param>
/// <param name="needsTopics">Whether calls publish.</param>
/// <param name="places">The endpoint's own.</param>
internal sealed class Admission(OverloadGate? overload, bool needsTopics, CallGate places)
{
    /// <summary>Takes a place; <see cref="Leave"/> gives it back.</summary>
    /// <exception cref="EsbException">The host or the endpoint has too much to do, or cannot publish.</exception>
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
    }

    public void Leave()
    {
        places.Leave();
        overload?.Leave();
    }

    /// <summary>Waits until every call has left. Nobody can enter any more.</summary>
    public Task DrainAsync(CancellationToken cancellationToken) => places.DrainAsync(cancellationToken);
}
