namespace Esb.Core.Storage;

/// <summary>Encrypts stored bodies anew after the keys changed, while the store is in use. Thread-safe.</summary>
public interface IBodyEncryption
{
    /// <summary>Encrypts the next bodies of dead letters and parked messages with the first key, those that are not encrypted
    /// included.</summary>
    /// <param name="after">Where the part before ended; null to begin.</param>
    /// <param name="cancellationToken">Cancels the operation; encrypted bodies stay encrypted.</param>
    /// <exception cref="Errors.EsbException"><c>ESB-STORE-NOKEYS</c>: no keys are configured. Otherwise, the store cannot be reached or
    /// written.</exception>
    Task<EncryptedPart> EncryptAsync(string? after, CancellationToken cancellationToken);
}

/// <summary>A part of the work.</summary>
/// <param name="Encrypted">Bodies encrypted with the first key.</param>
/// <param name="Unreadable">Bodies left as they are, because their key is not configured or because they were damaged.</param>
/// <param name="Next">Where to continue; null at the end.</param>
public sealed record EncryptedPart(int Encrypted, int Unreadable, string? Next);
