using System.Security.Cryptography;
using System.Text;
using Esb.Core.Errors;
using Esb.Core.Storage;

namespace Esb.Storage.Encryption;

/// <summary>AES-256-GCM over stored bodies. Immutable and thread-safe.</summary>
/// <remarks>
/// An encrypted body is: 8 bytes that mark it, the id of its key (16 bytes), a random nonce (12), the tag (16), the ciphertext. The mark,
/// the key's id and the id of the message are authenticated. A body that begins with the mark by itself is stored behind the mark and an
/// empty id. Random nonces are safe for 2^32 bodies of one key (NIST SP 800-38D, section 8.3).
/// </remarks>
internal sealed class BodyCipher : IBodyCipher
{
    /// <summary>The bytes by which an encrypted body is longer.</summary>
    public const int Overhead = HeaderBytes + NonceBytes + TagBytes;

    /// <summary>The mark of an encrypted body, as hexadecimal text.</summary>
    public const string MarkHex = "1f45534273656131";

    private const int IdBytes = EncryptionKeyConfig.LongestId;
    private const int HeaderBytes = 8 + IdBytes;
    private const int NonceBytes = 12;
    private const int TagBytes = 16;

    private static readonly byte[] Mark = Convert.FromHexString(MarkHex);

    private readonly (string Id, byte[] Key)? _first;
    private readonly Dictionary<string, byte[]> _keys;

    /// <summary>Stores bodies as they are.</summary>
    public static BodyCipher None { get; } = new([]);

    /// <param name="keys">The keys, without those that the check of the configuration refuses; the first encrypts.</param>
    public BodyCipher(IReadOnlyList<EncryptionKeyConfig> keys)
    {
        _keys = keys.ToDictionary(
            entry => entry.Id,
            entry => entry.Bytes() ?? throw new ArgumentException("A key has another length.", nameof(keys))
        );
        _first = keys.Count == 0 ? null : (keys[0].Id, _keys[keys[0].Id]);
    }

    /// <summary>The cipher of the store that a configuration names.</summary>
    public static BodyCipher Of(StoreConfig store) =>
        store is IEncryptingStoreConfig { EncryptionKeys: { Count: > 0 } keys }
            ? new BodyCipher([.. keys.Where(entry => entry.Bytes() is not null).DistinctBy(entry => entry.Id)])
            : None;

    /// <summary>The header of what the first key encrypts; null without keys.</summary>
    public byte[]? CurrentHeader => _first is { } first ? Header(first.Id) : null;

    public bool IsOn => _first is not null;

    public ReadOnlyMemory<byte> Seal(ReadOnlyMemory<byte> body, Guid id)
    {
        if (_first is not { } first)
            return body.Span.StartsWith(Mark) ? Escape(body.Span) : body;

        var stored = new byte[Overhead + body.Length];
        var header = stored.AsSpan(0, HeaderBytes);
        Header(first.Id).CopyTo(header);
        var nonce = stored.AsSpan(HeaderBytes, NonceBytes);
        RandomNumberGenerator.Fill(nonce);
        using var aes = new AesGcm(first.Key, TagBytes);
        aes.Encrypt(nonce, body.Span, stored.AsSpan(Overhead), stored.AsSpan(HeaderBytes + NonceBytes, TagBytes), Context(header, id));
        return stored;
    }

    public ReadOnlyMemory<byte> Open(ReadOnlyMemory<byte> stored, Guid id)
    {
        if (!stored.Span.StartsWith(Mark))
            return stored;
        if (stored.Length < HeaderBytes)
            throw Damaged(id);
        var header = stored.Span[..HeaderBytes];
        var keyId = Encoding.ASCII.GetString(header[Mark.Length..]).TrimEnd('\0');
        if (keyId.Length == 0)
            return stored[HeaderBytes..];
        if (!_keys.TryGetValue(keyId, out var key))
            throw new EsbException(
                "ESB-STORE-KEY",
                $"The body of message {id} is encrypted with the key '{Shown(keyId)}', which 'store.encryptionKeys' does not have.",
                FaultKind.Internal
            );
        if (stored.Length < Overhead)
            throw Damaged(id);

        var body = new byte[stored.Length - Overhead];
        using var aes = new AesGcm(key, TagBytes);
        try
        {
            aes.Decrypt(
                stored.Span.Slice(HeaderBytes, NonceBytes),
                stored.Span[Overhead..],
                stored.Span.Slice(HeaderBytes + NonceBytes, TagBytes),
                body,
                Context(header, id)
            );
        }
        catch (AuthenticationTagMismatchException ex)
        {
            throw Damaged(id, ex);
        }

        return body;
    }

    private static byte[] Header(string id)
    {
        var header = new byte[HeaderBytes];
        Mark.CopyTo(header, 0);
        Encoding.ASCII.GetBytes(id, header.AsSpan(Mark.Length));
        return header;
    }

    private static byte[] Escape(ReadOnlySpan<byte> body) => [.. Header(""), .. body];

    private static byte[] Context(ReadOnlySpan<byte> header, Guid id) => [.. header, .. id.ToByteArray(bigEndian: true)];

    // A damaged row may hold anything.
    private static string Shown(string id) =>
        new([.. id.Select(character => char.IsAsciiLetterOrDigit(character) || character == '-' ? character : '?')]);

    private static EsbException Damaged(Guid id, Exception? inner = null) =>
        new("ESB-STORE-DAMAGED", $"The stored body of message {id} was changed, or belongs to another message.", FaultKind.Internal, inner);
}
