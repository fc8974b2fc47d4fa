namespace Esb.Core.Storage;

/// <summary>Encrypts original bodies before they are stored, where the configuration has keys for it. Thread-safe.</summary>
public interface IBodyCipher
{
    /// <summary>True if bodies are encrypted.</summary>
    bool IsOn { get; }

    /// <summary>The form in which a body is stored: encrypted with the first key, or as it is where there are no keys.</summary>
    /// <param name="body">The body.</param>
    /// <param name="id">The id of its message; a stored body can be opened only under the same id.</param>
    ReadOnlyMemory<byte> Seal(ReadOnlyMemory<byte> body, Guid id);

    /// <summary>The body of its stored form, whichever of the keys it was encrypted with.</summary>
    /// <param name="stored">What <see cref="Seal"/> returned, or a body stored before there were keys.</param>
    /// <param name="id">The id of its message.</param>
    /// <exception cref="Errors.EsbException"><c>ESB-STORE-KEY</c>: its key is not configured. <c>ESB-STORE-DAMAGED</c>: it was changed, or
    /// belongs to another message.</exception>
    ReadOnlyMemory<byte> Open(ReadOnlyMemory<byte> stored, Guid id);
}
