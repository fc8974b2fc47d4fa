namespace Esb.Storage.Encryption;

/// <summary>The settings of a store that can encrypt bodies.</summary>
internal interface IEncryptingStoreConfig
{
    /// <summary>The first encrypts, all decrypt; empty if bodies are stored as they are.</summary>
    IReadOnlyList<EncryptionKeyConfig> EncryptionKeys { get; }
}
