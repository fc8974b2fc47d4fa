using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Delivery.Attempts;

/// <summary>How one attempt ended.</summary>
/// <param name="Answer">What the outside answered; null where it gives none.</param>
/// <param name="Failure">Why it failed; null after a success.</param>
/// <param name="IsNoAttempt">Whether it says nothing about the message: the outside is away, or no instance was free.</param>
internal sealed record AttemptOutcome(EsbMessage? Answer, EsbException? Failure, bool IsNoAttempt)
{
    /// <summary>Nothing was tried, because nobody wanted it any more.</summary>
    public static readonly AttemptOutcome Unwanted = new(null, null, IsNoAttempt: true);
}
