using System.Text;
using Esb.Configuration;
using Esb.Core.Parties;
using Microsoft.Extensions.Logging;
using Microsoft.IdentityModel.JsonWebTokens;
using Microsoft.IdentityModel.Tokens;

namespace Esb.Endpoints.Http.Access.Tokens;

/// <summary>An issuer whose tokens are accepted if they are made for this bus, with the parties that own them. Thread-safe.</summary>
/// <remarks>Follows RFC 8725: the configuration fixes the algorithms, never the token; keys are of one kind; issuer, audience and expiry
/// are required.</remarks>
internal sealed class TokenTrust
{
    private static readonly JsonWebTokenHandler Handler = new() { MapInboundClaims = false };

    private readonly TokenCredentialConfig _config;
    private readonly IReadOnlyList<TokenOwner> _owners;
    private readonly TimeProvider _time;
    private readonly RenewedFile<TokenValidationParameters>? _file;
    private readonly TokenValidationParameters? _fixed;

    public TokenTrust(TokenCredentialConfig config, IReadOnlyList<TokenOwner> owners, TimeProvider time, ILogger<TokenTrust> logger)
    {
        (_config, _owners, _time) = (config, owners, time);
        if (config.Keys is not { } path)
        {
            _fixed = Parameters([new SymmetricSecurityKey(Encoding.UTF8.GetBytes(config.Secret!))], SecurityAlgorithms.HmacSha256);
            return;
        }

        _file = new RenewedFile<TokenValidationParameters>(
            $"the file with the keys of {config.Issuer}",
            [path],
            () => Parameters(TokenKeys.Load(path), SecurityAlgorithms.RsaSha256, SecurityAlgorithms.EcdsaSha256),
            AccessFiles.Interval,
            time,
            logger
        );
    }

    /// <summary>True if a token, not yet verified, names this issuer, and this bus as its audience.</summary>
    public bool Concerns(JsonWebToken token) => token.Issuer == _config.Issuer && token.Audiences.Contains(_config.Audience);

    /// <summary>Identifies the party that owns a token.</summary>
    public async ValueTask<Verdict> IdentifyAsync(JsonWebToken token)
    {
        var result = await Handler.ValidateTokenAsync(token, _fixed ?? _file!.Current);
        if (!result.IsValid)
            return Verdict.Refused(result.Exception is SecurityTokenInvalidLifetimeException ? Denial.OutOfTime : Denial.Untrusted);
        var owners = _owners.Where(owner => owner.Owns(token)).Take(2).ToList();
        return owners is [var owner] ? Verdict.Of(owner.Party) : Verdict.Refused(Denial.Unknown); // a shared token belongs to neither
    }

    private TokenValidationParameters Parameters(IReadOnlyList<SecurityKey> keys, params string[] algorithms) =>
        new()
        {
            ValidIssuer = _config.Issuer,
            ValidAudience = _config.Audience,
            ValidAlgorithms = algorithms,
            IssuerSigningKeys = keys,
            RequireSignedTokens = true,
            LogValidationExceptions = false,
            LifetimeValidator = (from, until, _, _) => IsNow(from, until),
        };

    private bool IsNow(DateTime? from, DateTime? until)
    {
        var now = _time.GetUtcNow().UtcDateTime;
        return until > now - _config.Skew && (from is null || from <= now + _config.Skew);
    }
}
