namespace Esb.Core.Storage;

/// <summary>Remembers requests by the keys that their senders gave them, and what they were answered: a repetition gets that answer and is not worked on again. Durable when a call returns. Thread-safe.</summary>
/// <remarks>Pattern: Idempotent Receiver. The header is that of https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/.</remarks>
public interface IIdempotencyKeys
{
    /// <summary>How long a key is remembered, at least.</summary>
    static readonly TimeSpan Window = TimeSpan.FromDays(7);

    /// <summary>How long a claim holds without being renewed; then its holder is taken for dead, and a repetition may be worked on.</summary>
    static readonly TimeSpan Lease = TimeSpan.FromSeconds(60);

    /// <summary>Asks for the right to work on a request. Of callers at the same time one gets it.</summary>
    /// <param name="key">The request.</param>
    /// <param name="bodyHash">The SHA-256 of its body.</param>
    /// <param name="cancellationToken">Stops asking; a claim that was granted meanwhile runs out by itself.</param>
    /// <exception cref="Errors.EsbException">The store cannot be reached or written.</exception>
    Task<KeyClaim> ClaimAsync(IdempotencyKey key, ReadOnlyMemory<byte> bodyHash, CancellationToken cancellationToken);

    /// <summary>Holds a claim for another <see cref="Lease"/>.</summary>
    /// <exception cref="Errors.EsbException">The store cannot be reached or written.</exception>
    Task RenewAsync(KeyClaim.Granted claim, CancellationToken cancellationToken);

    /// <summary>Remembers what the request was answered. Nothing happens where somebody else has the claim by now.</summary>
    /// <exception cref="Errors.EsbException">The store cannot be reached or written.</exception>
    Task CompleteAsync(KeyClaim.Granted claim, RecordedAnswer answer, CancellationToken cancellationToken);

    /// <summary>The request failed: a repetition of it, with the same body, may be worked on.</summary>
    /// <exception cref="Errors.EsbException">The store cannot be reached or written.</exception>
    Task ReleaseAsync(KeyClaim.Granted claim, CancellationToken cancellationToken);
}

/// <summary>Names a request.</summary>
/// <param name="Endpoint">The endpoint that it came in by.</param>
/// <param name="Client">Who sent it; null where the endpoint knows no parties.</param>
/// <param name="Value">The key that the sender chose, unique among its requests to the endpoint.</param>
public sealed record IdempotencyKey(string Endpoint, string? Client, string Value);

/// <summary>What a request was answered.</summary>
/// <param name="Status">The status of HTTP.</param>
/// <param name="ContentType">Of the body; null where there is none.</param>
/// <param name="Headers">The headers of ours, without those of the server.</param>
/// <param name="Body">The body, empty where there is none; null where it was too large to be kept.</param>
/// <param name="IsDurable">Whether what was done survives the end of the process; otherwise the answer counts in this process only.</param>
public sealed record RecordedAnswer(int Status, string? ContentType, IReadOnlyDictionary<string, string> Headers, ReadOnlyMemory<byte>? Body, bool IsDurable);
