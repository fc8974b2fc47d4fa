using System.Security.Cryptography;
using System.Text;
using Esb.Content.Xml;
using Esb.Endpoints.Http.Access;
using Esb.Endpoints.Soap.Envelopes;

namespace Esb.Endpoints.Soap.Security;

/// <summary>Identifies callers by a user name token (WS-Security UsernameToken Profile 1.1), with the password or a digest of it.
/// Thread-safe.</summary>
/// <param name="users">The passwords of all parties, by user.</param>
/// <param name="xml">Reads the header.</param>
/// <param name="time">The clock.</param>
internal sealed class UsernameTokenCheck(IReadOnlyDictionary<string, PartyPasswords> users, XmlInput xml, TimeProvider time)
{
    /// <summary>The largest difference between the time of a token and now.</summary>
    public static readonly TimeSpan Tolerance = TimeSpan.FromMinutes(5);

    private static readonly PartyPasswords Nobody = new(null, [""]);

    private readonly SeenNonces _seen = new(2 * Tolerance, time);
    private readonly byte[] _key = RandomNumberGenerator.GetBytes(32);

    public Verdict Identify(SoapEnvelope envelope)
    {
        var headers = envelope
            .Headers.Where(header => header is { Name: "Security", Namespace: WssNames.Wsse } && envelope.Version.IsForUs(header.Role))
            .ToList();
        if (headers.Count == 0)
            return Verdict.Refused(Denial.Missing);
        if (headers.Count > 1 || UsernameToken.Read(headers[0].Xml, xml) is not { } token)
            return Verdict.Refused(Denial.Malformed);
        return token.User is null ? Verdict.Refused(Denial.Missing) : Identify(token, token.User);
    }

    private Verdict Identify(UsernameToken token, string user)
    {
        if (token.IsDigest && (token.Nonce.Length == 0 || token.Created.Length == 0))
            return Verdict.Refused(Denial.Malformed); // could be sent again for ever
        var now = time.GetUtcNow();
        if (token.Stamp.Expires is { } expires && expires + Tolerance < now)
            return Verdict.Refused(Denial.OutOfTime);
        if (token.Stamp.Created is { } stamped && stamped - Tolerance > now)
            return Verdict.Refused(Denial.OutOfTime);
        if (token.Created.Length > 0 && (UsernameToken.TimeOf(token.Created) is not { } created || (created - now).Duration() > Tolerance))
            return Verdict.Refused(Denial.OutOfTime);

        var known = users.GetValueOrDefault(user, Nobody); // an unknown user costs the same work
        var isRight = false;
        foreach (var password in known.Passwords)
            isRight |= IsRight(token, password);
        if (!isRight || known.Party is null)
            return Verdict.Refused(Denial.Unknown);
        return token.Nonce.Length > 0 && !_seen.TryAdd(user, token.Nonce, token.Created)
            ? Verdict.Refused(Denial.Replayed)
            : Verdict.Of(known.Party);
    }

    private bool IsRight(UsernameToken token, string password)
    {
        if (!token.IsDigest)
            return AreEqual(Encoding.UTF8.GetBytes(token.Password), Encoding.UTF8.GetBytes(password));
        var shown = new byte[SHA1.HashSizeInBytes];
        return Convert.TryFromBase64String(token.Password.Trim(), shown, out var length)
            && AreEqual(shown.AsSpan(0, length), PasswordDigest.Of(token.Nonce, token.Created, password));
    }

    // Of keyed hashes, so that neither length nor content shows in the time.
    private bool AreEqual(ReadOnlySpan<byte> one, ReadOnlySpan<byte> other) =>
        CryptographicOperations.FixedTimeEquals(HMACSHA256.HashData(_key, one), HMACSHA256.HashData(_key, other));
}
