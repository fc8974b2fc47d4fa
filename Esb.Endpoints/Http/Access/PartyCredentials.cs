using System.Collections.Frozen;
using System.Text;
using Esb.Configuration;
using Esb.Core.Certificates;
using Esb.Core.Parties;
using Esb.Endpoints.Http.Access.Tokens;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Http.Access;

/// <summary>A party, and the passwords of one of its users.</summary>
internal sealed record PartyPasswords(Party? Party, IReadOnlyList<string> Passwords);

/// <summary>The credentials of all parties, prepared for comparison. Thread-safe.</summary>
internal sealed class PartyCredentials(
    IReadOnlyDictionary<string, PartyConfig> parties,
    PartyDirectory directory,
    TimeProvider time,
    ILoggerFactory loggers
)
{
    private readonly SecretDigests _digests = new();

    private IReadOnlyList<(Party Party, PartyConfig Config)> All { get; } =
    [
        .. parties.Values.Select(config =>
            (directory.TryFind(config.Name, out var party) ? party : throw new KeyNotFoundException(config.Name), config)
        ),
    ];

    /// <summary>Returns the check of one kind of credential, for all endpoints.</summary>
    public ICredentialCheck CheckOf(CredentialKind kind, string apiKeyHeader) =>
        kind switch
        {
            CredentialKind.ApiKey => new ApiKeyCheck(apiKeyHeader, ApiKeys(), _digests),
            CredentialKind.Basic => new BasicCheck(Users(), _digests),
            CredentialKind.Jwt => new TokenCheck(Tokens()),
            CredentialKind.Certificate => new CertificateCheck(Thumbprints(), Subjects(), time),
            _ => throw new ArgumentOutOfRangeException(nameof(kind), kind, "It is checked with the body."),
        };

    /// <summary>The keys with which parties sign their requests.</summary>
    public IReadOnlyList<(Party Party, byte[] Key)> SignatureKeys() =>
        [.. All.SelectMany(one => one.Config.SignatureKeys, (one, key) => (one.Party, Encoding.UTF8.GetBytes(key)))];

    /// <summary>The passwords of each user, for credentials that are computed of them.</summary>
    public IReadOnlyDictionary<string, PartyPasswords> Passwords() =>
        All.SelectMany(one => one.Config.Users, (one, user) => (one.Party, user))
            .GroupBy(one => one.user.User, StringComparer.Ordinal)
            .ToFrozenDictionary(
                group => group.Key,
                group => new PartyPasswords(group.First().Party, [.. group.Select(one => one.user.Password)]),
                StringComparer.Ordinal
            );

    private FrozenDictionary<SecretDigest, Party> ApiKeys() =>
        All.SelectMany(one => one.Config.ApiKeys, (one, key) => (Digest: _digests.Of(key), one.Party))
            .DistinctBy(key => key.Digest)
            .ToFrozenDictionary(key => key.Digest, key => key.Party);

    private FrozenDictionary<SecretDigest, PartyUser> Users() =>
        All.SelectMany(one => one.Config.Users, (one, user) => (one.Party, user))
            .GroupBy(one => one.user.User, StringComparer.Ordinal)
            .ToFrozenDictionary(
                group => _digests.Of(group.Key),
                group => new PartyUser(group.First().Party, [.. group.Select(one => _digests.Of(one.user.Password))])
            );

    // Tokens with the same issuer, audience and key are verified once, for all parties.
    private IReadOnlyList<TokenTrust> Tokens() =>
        [
            .. All.SelectMany(one => one.Config.Tokens, (one, token) => (one.Party, token))
                .GroupBy(one => (one.token.Issuer, one.token.Audience, one.token.Keys, one.token.Secret, one.token.Skew))
                .Select(group => new TokenTrust(
                    group.First().token,
                    [.. group.Select(one => new TokenOwner(one.Party, one.token.Claims))],
                    time,
                    loggers.CreateLogger<TokenTrust>()
                )),
        ];

    private FrozenDictionary<string, Party> Thumbprints() =>
        All.SelectMany(
                one => one.Config.Certificates.Where(certificate => certificate.Thumbprint is not null),
                (one, certificate) => (Thumbprint: certificate.Thumbprint!, one.Party)
            )
            .DistinctBy(one => one.Thumbprint, StringComparer.OrdinalIgnoreCase)
            .ToFrozenDictionary(one => one.Thumbprint, one => one.Party, StringComparer.OrdinalIgnoreCase);

    private IReadOnlyList<PartySubject> Subjects() =>
        [
            .. All.SelectMany(
                one => one.Config.Certificates.Where(certificate => certificate.Subject is not null),
                (one, certificate) => SubjectOf(one.Party, certificate)
            ),
        ];

    private PartySubject SubjectOf(Party party, CertificateCredentialConfig certificate) =>
        new(
            party,
            DistinguishedNames.Normalize(certificate.Subject!),
            new PeerVerifier("the caller", CertificateFiles.LoadAuthorities(certificate.Ca!, time.GetUtcNow()), PeerVerifier.Client)
        );
}
