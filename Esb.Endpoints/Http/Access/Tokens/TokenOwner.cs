using Esb.Core.Parties;
using Microsoft.IdentityModel.JsonWebTokens;

namespace Esb.Endpoints.Http.Access.Tokens;

/// <summary>The claims that assign a token to a party.</summary>
internal sealed record TokenOwner(Party Party, IReadOnlyDictionary<string, string> Claims)
{
    /// <summary>True if a token has all of the claims; each value of a multi-valued claim counts.</summary>
    public bool Owns(JsonWebToken token) =>
        Claims.All(expected => token.Claims.Any(claim => claim.Type == expected.Key && claim.Value == expected.Value));
}
