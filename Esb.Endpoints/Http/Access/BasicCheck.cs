using System.Buffers.Text;
using System.Collections.Frozen;
using System.Text;
using Esb.Core.Parties;
using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http.Access;

/// <summary>A user of a party, and its accepted passwords.</summary>
internal sealed record PartyUser(Party? Party, SecretDigest[] Passwords)
{
    /// <summary>Placeholder for unknown users, whose check costs the same work.</summary>
    public static readonly PartyUser Nobody = new(null, [default]);
}

/// <summary>Identifies callers by user and password (RFC 7617). An unknown user and a wrong password cost the same work and get the same
/// answer.</summary>
internal sealed class BasicCheck(FrozenDictionary<SecretDigest, PartyUser> users, SecretDigests digests) : ICredentialCheck
{
    // A user, a colon and a password, each of maximum length.
    private static readonly int MaxCharacters = Base64.GetMaxEncodedToUtf8Length(SecretDigests.MaxBytes + 1 + SecretDigests.MaxBytes);

    public string Challenge => "Basic realm=\"esb\"";

    public ValueTask<Verdict> IdentifyAsync(HttpContext context) => new(Identify(context.Request));

    private Verdict Identify(HttpRequest request)
    {
        if (AuthorizationHeader.Read(request, "Basic", out var credentials) is not Denial.None and var denial)
            return Verdict.Refused(denial);
        Span<byte> bytes = stackalloc byte[MaxCharacters];
        if (!Encoding.ASCII.TryGetBytes(credentials.Span, bytes, out var written))
            return Verdict.Refused(Denial.Malformed);
        if (Base64.DecodeFromUtf8InPlace(bytes[..written], out var decoded) != System.Buffers.OperationStatus.Done)
            return Verdict.Refused(Denial.Malformed);
        bytes = bytes[..decoded];
        var colon = bytes.IndexOf((byte)':');
        return colon < 0 ? Verdict.Refused(Denial.Malformed) : Verdict.Of(PartyOf(bytes[..colon], bytes[(colon + 1)..]));
    }

    private Party? PartyOf(ReadOnlySpan<byte> user, ReadOnlySpan<byte> password)
    {
        var known = users.GetValueOrDefault(digests.Of(user), PartyUser.Nobody);
        var shown = digests.Of(password);
        var isRight = false;
        foreach (var expected in known.Passwords)
            isRight |= SecretDigests.AreEqual(expected, shown);
        return isRight ? known.Party : null;
    }
}
