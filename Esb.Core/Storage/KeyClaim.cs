namespace Esb.Core.Storage;

/// <summary>Result of claiming an <see cref="IdempotencyKey"/>.</summary>
public abstract record KeyClaim
{
    private KeyClaim() { }

    /// <summary>The request has not been processed, or not completely: the claimant processes it, and then completes or releases the
    /// claim.</summary>
    /// <param name="Key">The request.</param>
    /// <param name="BodyHash">The SHA-256 of its body.</param>
    /// <param name="Token">Distinguishes this claim from later ones.</param>
    public sealed record Granted(IdempotencyKey Key, ReadOnlyMemory<byte> BodyHash, Guid Token) : KeyClaim;

    /// <summary>Another caller is processing the request.</summary>
    public sealed record Running : KeyClaim;

    /// <summary>The request has been answered.</summary>
    /// <param name="Answer">The answer.</param>
    public sealed record Answered(RecordedAnswer Answer) : KeyClaim;

    /// <summary>The key belongs to a request with another body.</summary>
    public sealed record Conflicting : KeyClaim;
}
