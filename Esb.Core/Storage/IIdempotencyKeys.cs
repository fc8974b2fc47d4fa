namespace Esb.Core.Storage;

/// <summary>Stores requests by their senders' keys, with their answers: a repeated request gets the same answer and is not processed again.
/// Durable when a call returns. Thread-safe.</summary>
/// <remarks>Pattern: Idempotent Receiver. The header follows
/// https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/.</remarks>
public interface IIdempotencyKeys
{
    /// <summary>Minimum time for which a key is remembered.</summary>
    static readonly TimeSpan Window = TimeSpan.FromDays(7);

    /// <summary>Lifetime of a claim without renewal; afterwards its holder counts as dead, and a repeated request may be
    /// processed.</summary>
    static readonly TimeSpan Lease = TimeSpan.FromSeconds(60);

    /// <summary>Claims the right to process a request. One of several concurrent callers gets it.</summary>
    /// <param name="key">The request.</param>
    /// <param name="bodyHash">The SHA-256 of its body.</param>
    /// <param name="cancellationToken">Cancels the call; a claim granted meanwhile expires by itself.</param>
    /// <exception cref="Errors.EsbException">The store is unreachable or cannot be written.</exception>
    Task<KeyClaim> ClaimAsync(IdempotencyKey key, ReadOnlyMemory<byte> bodyHash, CancellationToken cancellationToken);

    /// <summary>Renews a claim for another <see cref="Lease"/>.</summary>
    /// <exception cref="Errors.EsbException">The store is unreachable or cannot be written.</exception>
    Task RenewAsync(KeyClaim.Granted claim, CancellationToken cancellationToken);

    /// <summary>Records the answer to the request. Does nothing if the claim now belongs to another caller.</summary>
    /// <exception cref="Errors.EsbException">The store is unreachable or cannot be written.</exception>
    Task CompleteAsync(KeyClaim.Granted claim, RecordedAnswer answer, CancellationToken cancellationToken);

    /// <summary>Releases the claim of a failed request: a repeated request with the same body may be processed.</summary>
    /// <exception cref="Errors.EsbException">The store is unreachable or cannot be written.</exception>
    Task ReleaseAsync(KeyClaim.Granted claim, CancellationToken cancellationToken);
}

/// <summary>Identity of a request.</summary>
/// <param name="Endpoint">The endpoint that received it.</param>
/// <param name="Client">The sender; null if the endpoint knows no parties.</param>
/// <param name="Value">The key chosen by the sender, unique among its requests to the endpoint.</param>
public sealed record IdempotencyKey(string Endpoint, string? Client, string Value)
{
    /// <summary>The client of the claims of <c>dedupe</c>, whose number is limited apart from the keys of callers. No party can have the
    /// name.</summary>
    public const string Dedupe = "(dedupe)";
}

/// <summary>Recorded answer to a request.</summary>
/// <param name="Status">The HTTP status.</param>
/// <param name="ContentType">Media type of the body; null if none.</param>
/// <param name="Headers">Headers set by the bus, without those of the server.</param>
/// <param name="Body">The body, empty if none; null if it was too large to store.</param>
/// <param name="IsDurable">True if the effect survives the end of the process; otherwise the answer is valid in this process only.</param>
public sealed record RecordedAnswer(
    int Status,
    string? ContentType,
    IReadOnlyDictionary<string, string> Headers,
    ReadOnlyMemory<byte>? Body,
    bool IsDurable
);
