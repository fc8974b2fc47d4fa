using Esb.Core.Parties;
using Microsoft.IdentityModel.JsonWebTokens;

namespace Esb.Endpoints.Http.Access.Tokens;

/// <summary>The claims by which a token is a party's.</summary>
internal sealed record TokenOwner(Party Party, IReadOnlyDictionary<string, string> Claims)
{
    /// <summary>Whether a token has all of them; one with several values has each.</summary>
    public bool Owns(JsonWebToken token) => Claims.All(expected => token.Claims.Any(claim => claim.Type == expected.Key && claim.Value == expected.Value));
}
