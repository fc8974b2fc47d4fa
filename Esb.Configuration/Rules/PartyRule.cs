using System.Text;
using Esb.Configuration.Compiling;
using Esb.Core.Certificates;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;
using Esb.Core.Parties;

namespace Esb.Configuration.Rules;

/// <summary>Refuses credentials that are weak or do not distinguish two parties, and endpoints that subscribe to more than their party
/// may.</summary>
internal sealed class PartyRule(
    IReadOnlyDictionary<string, PartyConfig> parties,
    IReadOnlyDictionary<string, EndpointConfig> endpoints,
    TimeProvider time
) : IConfigurationRule
{
    /// <summary>The minimum length of an HS256 key, in bytes (RFC 7518, section 3.2).</summary>
    public const int MinTokenSecretBytes = 32;

    private const string Code = "ESB-CFG-PARTY";

    public void Check(ConfigErrors errors)
    {
        foreach (var party in parties.Values)
            CheckCredentials(party, errors);
        RefuseShared(
            parties.Values.SelectMany(party => party.ApiKeys, (party, key) => new Credential(party, party, "apiKeys", key)),
            errors
        );
        RefuseShared(
            parties.Values.SelectMany(party => party.SignatureKeys, (party, key) => new Credential(party, party, "signatureKeys", key)),
            errors
        );
        RefuseShared(
            parties.Values.SelectMany(party => party.Users, (party, user) => new Credential(party, user, "user", user.User)),
            errors
        );
        RefuseShared(
            parties.Values.SelectMany(party => party.Tokens, (party, token) => new Credential(party, token, "claims", TextOf(token))),
            errors
        );
        RefuseShared(
            parties.Values.SelectMany(
                party => party.Certificates,
                (party, one) => new Credential(party, one, "thumbprint", one.Thumbprint?.ToUpperInvariant() ?? "")
            ),
            errors
        );
        foreach (var endpoint in endpoints.Values)
            CheckEndpoint(endpoint, errors);
    }

    private void CheckCredentials(PartyConfig party, ConfigErrors errors)
    {
        if (party.ApiKeys.Any(key => key.Length < PartyConfig.MinKeyLength))
            errors.Add(Code, party, "apiKeys", $"expected at least {PartyConfig.MinKeyLength} characters in each");
        if (party.ApiKeys.Any(IsTooLong))
            errors.Add(Code, party, "apiKeys", AtMost("in each"));
        if (party.SignatureKeys.Any(key => key.Length < PartyConfig.MinKeyLength))
            errors.Add(Code, party, "signatureKeys", $"expected at least {PartyConfig.MinKeyLength} characters in each");
        foreach (var user in party.Users)
            CheckUser(user, errors);
        foreach (var token in party.Tokens)
            CheckToken(token, errors);
        foreach (var certificate in party.Certificates)
            CheckCertificate(certificate, errors);
    }

    private static void CheckUser(UserCredentialConfig user, ConfigErrors errors)
    {
        if (user.User.Contains(':', StringComparison.Ordinal))
            errors.Add(Code, user, "user", "expected a name without a colon, which ends it");
        if (IsTooLong(user.User))
            errors.Add(Code, user, "user", AtMost("of UTF-8"));
        if (IsTooLong(user.Password))
            errors.Add(Code, user, "password", AtMost("of UTF-8"));
    }

    // All secrets that are too long would compare equal: a caller that presents any of them would be identified by it.
    private static bool IsTooLong(string secret) => Encoding.UTF8.GetByteCount(secret) > PartyConfig.MaxSecretBytes;

    private static string AtMost(string of) => $"expected at most {PartyConfig.MaxSecretBytes} bytes {of}: no more is looked at";

    private static void CheckToken(TokenCredentialConfig token, ConfigErrors errors)
    {
        foreach (var (property, value) in new[] { ("issuer", token.Issuer), ("audience", token.Audience) })
        {
            if (value.Length == 0)
                errors.Add(Code, token, property, "expected the exact value of the claim: without it tokens made for others would do");
        }

        if (token.Claims.Count == 0)
            errors.Add(Code, token, "claims", "expected at least one claim: without it every token of the issuer would do");
        if (token.Secret is { } secret && Encoding.UTF8.GetByteCount(secret) < MinTokenSecretBytes)
            errors.Add(Code, token, "secret", $"expected at least {MinTokenSecretBytes} bytes");
    }

    private void CheckCertificate(CertificateCredentialConfig certificate, ConfigErrors errors)
    {
        if (certificate.Thumbprint is { } thumbprint && !(thumbprint.Length == 64 && thumbprint.All(char.IsAsciiHexDigit)))
            errors.Add(
                Code,
                certificate,
                "thumbprint",
                "expected the SHA-256 fingerprint, 64 hexadecimal digits: openssl x509 -noout -fingerprint -sha256, without its colons"
            );
        if (certificate.Subject is { } subject && !DistinguishedNames.IsName(subject))
            errors.Add(Code, certificate, "subject", "expected a distinguished name such as \"CN=shop, O=Shop Ltd\"");
        if (certificate is { Subject: not null, Ca: null })
            errors.Add(Code, certificate, "ca", "is required beside \"subject\": any authority could issue a certificate with it");
        errors.CheckAuthorities(certificate, "ca", certificate.Ca, time.GetUtcNow());
    }

    // A caller that presents a credential shared by two parties could be either. The values are secrets, so only their positions are
    // reported.
    private static void RefuseShared(IEnumerable<Credential> credentials, ConfigErrors errors)
    {
        foreach (
            var shared in credentials
                .Where(one => one.Value.Length > 0 && one.Settings.IsSound(one.Property))
                .GroupBy(one => one.Value, StringComparer.Ordinal)
        )
        {
            var (first, last) = (shared.First(), shared.Last());
            if (first.Party.Name == last.Party.Name)
                continue;
            errors.Add(
                Code,
                ConfigNode.Join(last.Settings.Path, last.Property),
                $"the party '{first.Party.Name}' has the same; expected what one party has only",
                last.Settings.Origin
            );
        }
    }

    private static string TextOf(TokenCredentialConfig token) =>
        string.Join(
            '\n',
            token
                .Claims.OrderBy(claim => claim.Key, StringComparer.Ordinal)
                .Select(claim => $"{claim.Key}={claim.Value}")
                .Prepend(token.Audience)
                .Prepend(token.Issuer)
        );

    private void CheckEndpoint(EndpointConfig endpoint, ConfigErrors errors)
    {
        if (endpoint.Party is not { } name || !parties.TryGetValue(name, out var party))
            return;
        if (endpoint is OutboundEndpointConfig outbound && party.IsSound("subscribe"))
        {
            foreach (var pattern in outbound.Subscribe.Where(pattern => !party.Subscribe.Any(allowed => allowed.Covers(pattern))))
                errors.Add(Code, endpoint, "subscribe", $"the party '{name}' may not subscribe to \"{pattern}\"");
        }

        if (
            endpoint is InboundEndpointConfig { Publish: { } subject }
            && party.IsSound("publish")
            && !party.Publish.Any(allowed => allowed.Matches(subject.Value))
        )
            errors.Add(Code, endpoint, "publish", $"the party '{name}' may not publish \"{subject}\"");
    }

    private sealed record Credential(PartyConfig Party, SettingsRecord Settings, string Property, string Value);
}
