using Esb.Core.Configuration.Settings;

namespace Esb.Storage.Encryption;

/// <summary>An entry of <c>store.encryptionKeys</c>.</summary>
internal sealed record EncryptionKeyConfig : SettingsRecord
{
    /// <summary>The longest <see cref="Id"/>, in characters: it stands in each stored body.</summary>
    public const int LongestId = 16;

    /// <summary>The length of a key, in bytes.</summary>
    public const int KeyBytes = 32;

    [Setting("Names the key in what it encrypts: 1 to 16 lower-case letters, digits and hyphens.")]
    public required string Id { get; init; }

    [Setting("32 random bytes in Base64, such as 'openssl rand -base64 32' prints.", Secret = true)]
    public required string Key { get; init; }

    /// <summary>The bytes of the key; null if it is not Base64 of the right length.</summary>
    public byte[]? Bytes()
    {
        var bytes = new byte[KeyBytes];
        return Convert.TryFromBase64String(Key.Trim(), bytes, out var length) && length == KeyBytes ? bytes : null;
    }
}
