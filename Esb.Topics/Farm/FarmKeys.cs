using System.Security.Cryptography;
using System.Text;
using Esb.Core.Errors;
using Esb.Core.Storage;

namespace Esb.Topics.Farm;

/// <summary>The keys that hosts of a farm share: those of the configuration, otherwise the one of a shared store. Thread-safe.</summary>
/// <param name="config">The configured keys.</param>
/// <param name="store">Finds the store; called only without a configured key.</param>
internal sealed class FarmKeys(FarmConfig config, Func<IFarmKeyStore?> store)
{
    private volatile byte[][] _keys = [.. new[] { config.Key, config.PreviousKey }.OfType<string>().Select(KeyOf)];

    /// <summary>Keys of a host that shares none.</summary>
    public static FarmKeys None => new(new FarmConfig(), () => null);

    /// <summary>True if this host can sign, and recognise what other hosts have signed.</summary>
    public bool Any => _keys.Length > 0;

    /// <summary>Reads the key of the store, if the configuration has none.</summary>
    /// <returns>True unless the store cannot be reached now.</returns>
    public async Task<bool> TryLoadAsync(CancellationToken cancellationToken)
    {
        if (Any)
            return true;
        try
        {
            if (store() is { } shared && await shared.FindOrMakeAsync(cancellationToken) is { } key)
                _keys = [key];
            return true;
        }
        catch (EsbException ex) when (ex.IsTransient)
        {
            return false;
        }
    }

    /// <summary>HMAC-SHA256 with the current key, in base64; null without a key.</summary>
    public string? Sign(ReadOnlySpan<byte> content) =>
        _keys is [var key, ..] ? Convert.ToBase64String(HMACSHA256.HashData(key, content)) : null;

    /// <summary>True if one of the keys has signed the content. Compares in constant time.</summary>
    public bool Signed(ReadOnlySpan<byte> content, string? signature)
    {
        var shown = new byte[HMACSHA256.HashSizeInBytes];
        if (signature is null || !Convert.TryFromBase64String(signature, shown, out var length) || length != shown.Length)
            return false;
        foreach (var key in _keys)
        {
            if (CryptographicOperations.FixedTimeEquals(HMACSHA256.HashData(key, content), shown))
                return true;
        }

        return false;
    }

    // Texts of any length become keys of one length.
    private static byte[] KeyOf(string text) => SHA256.HashData(Encoding.UTF8.GetBytes(text));
}
