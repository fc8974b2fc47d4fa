using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Delivery.Attempts;

/// <summary>The result of one attempt.</summary>
/// <param name="Answer">The reply of the external system; null if it gives none.</param>
/// <param name="Failure">The failure; null after a success.</param>
/// <param name="IsNoAttempt">True if the result does not count as an attempt: the external system was unreachable, or no instance was
/// free.</param>
internal sealed record AttemptOutcome(EsbMessage? Answer, EsbException? Failure, bool IsNoAttempt)
{
    /// <summary>Nothing was sent, because the caller no longer wanted the message.</summary>
    public static readonly AttemptOutcome Unwanted = new(null, null, IsNoAttempt: true);
}
