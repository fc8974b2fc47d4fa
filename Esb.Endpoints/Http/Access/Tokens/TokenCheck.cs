using Microsoft.AspNetCore.Http;
using Microsoft.IdentityModel.JsonWebTokens;
using Microsoft.IdentityModel.Tokens;

namespace Esb.Endpoints.Http.Access.Tokens;

/// <summary>Identifies callers by a bearer token (RFC 6750) that is a signed JWT.</summary>
internal sealed class TokenCheck(IReadOnlyList<TokenTrust> trusts) : ICredentialCheck
{
    public string Challenge => "Bearer";

    public async ValueTask<Verdict> IdentifyAsync(HttpContext context)
    {
        if (AuthorizationHeader.Read(context.Request, "Bearer", out var credentials) is not Denial.None and var denial)
            return Verdict.Refused(denial);
        if (Parse(credentials) is not { } token)
            return Verdict.Refused(Denial.Malformed);
        var verdict = Verdict.Refused(Denial.Unknown);
        foreach (var trust in trusts)
        {
            if (!trust.Concerns(token))
                continue;
            verdict = await trust.IdentifyAsync(token);
            if (verdict.Party is not null)
                return verdict;
        }

        return verdict;
    }

    // Critical extensions (RFC 7515, section 4.1.11) are not supported; tokens with them are refused.
    private static JsonWebToken? Parse(ReadOnlyMemory<char> credentials)
    {
        try
        {
            var token = new JsonWebToken(credentials.ToString());
            return token.IsEncrypted || token.TryGetHeaderValue<object>("crit", out _) ? null : token;
        }
        catch (Exception ex) when (ex is ArgumentException or SecurityTokenException)
        {
            return null;
        }
    }
}
