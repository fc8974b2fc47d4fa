using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;
using Esb.Core.Messages;
using Esb.Core.Parties;
using Esb.Endpoints.Http.Access.Signatures;
using Esb.Endpoints.Http.Access.Tokens;
using Esb.Endpoints.Http.Listening;
using Esb.Endpoints.Http.Receiving;

namespace Esb.Endpoints.Http.Access;

/// <summary>Refuses endpoints that no caller could use, or more callers than intended, and keys that cannot verify a token.</summary>
internal sealed class AccessRule(
    IReadOnlyDictionary<string, PartyConfig> parties,
    IReadOnlyDictionary<string, EndpointConfig> endpoints,
    IReadOnlyDictionary<string, ListenerConfig> listeners,
    UnreadSettings unread
) : IConfigurationRule
{
    private const string Code = "ESB-CFG-ACCESS";

    public void Check(ConfigErrors errors)
    {
        foreach (var endpoint in endpoints.Values.OfType<ListeningEndpointConfig>())
            Check(endpoint, errors);
        foreach (var token in parties.Values.SelectMany(party => party.Tokens))
            CheckKeys(token, errors);
    }

    private void Check(ListeningEndpointConfig endpoint, ConfigErrors errors)
    {
        CheckHeader(endpoint.ApiKeyHeader, "apiKeyHeader", endpoint, errors);
        if (!endpoint.IsSound("authentication"))
            return;
        if (endpoint.Authentication.Count == 0)
        {
            if (endpoint.Parties.Count > 0)
                errors.Add(Code, endpoint, "parties", "says who may call, but no \"authentication\" would prove it");
            return;
        }

        if (endpoint.Party is not null)
            errors.Add(Code, endpoint, "party", "is either said here or proved by \"authentication\", not both");
        if (endpoint.Authentication.Contains(CredentialKind.Signature))
            CheckSignature(endpoint, errors);
        if (endpoint.Authentication.Contains(CredentialKind.UsernameToken))
            CheckUsernameToken(endpoint, errors);
        if (unread.IsSound("parties") && endpoint.IsSound("parties"))
            CheckCallers(endpoint, errors);
        if (listeners.TryGetValue(endpoint.Listener, out var listener))
            CheckListener(endpoint, listener, errors);
    }

    // Each party that is admitted by name must have a suitable credential; without names, at least one party must have one.
    private void CheckCallers(ListeningEndpointConfig endpoint, ConfigErrors errors)
    {
        foreach (var name in endpoint.Parties)
        {
            if (parties.TryGetValue(name, out var party) && !endpoint.Authentication.Any(kind => Has(party, kind)))
                errors.Add(Code, endpoint, "parties", $"the party '{name}' has no credential that \"authentication\" takes");
        }

        if (endpoint.Parties.Count == 0 && !parties.Values.Any(party => endpoint.Authentication.Any(kind => Has(party, kind))))
            errors.Add(Code, endpoint, "authentication", "no party has such a credential, so no call could succeed");
    }

    private static void CheckListener(ListeningEndpointConfig endpoint, ListenerConfig listener, ConfigErrors errors)
    {
        if (
            endpoint.Authentication.Contains(CredentialKind.Certificate)
            && listener.IsSound("tls")
            && listener.Tls is not { ClientCertificates: not Tls.ClientCertificateMode.None }
        )
            errors.Add(
                Code,
                endpoint,
                "authentication",
                $"the listener '{listener.Name}' does not ask for certificates: expected \"clientCertificates\" in its \"tls\""
            );
    }

    private static void CheckSignature(ListeningEndpointConfig endpoint, ConfigErrors errors)
    {
        var signature = endpoint.Signature;
        if (endpoint.Authentication.Count > 1)
            errors.Add(Code, endpoint, "authentication", "signature stands alone: the body has to be read for it");
        CheckHeader(signature.Header, "header", signature, errors);
        CheckHeader(signature.TimestampHeader, "timestampHeader", signature, errors);
        if (
            !signature.Content.EndsWith(SignatureConfig.Body, StringComparison.Ordinal)
            || !signature.Content.Contains(SignatureConfig.Timestamp, StringComparison.Ordinal)
        )
            errors.Add(
                Code,
                signature,
                "content",
                $"expected a text with {SignatureConfig.Timestamp}, without which repetitions would pass, and "
                    + $"{SignatureConfig.Body} at its end"
            );
    }

    private static void CheckUsernameToken(ListeningEndpointConfig endpoint, ConfigErrors errors)
    {
        if (!endpoint.ReadsUsernameTokens)
            errors.Add(Code, endpoint, "authentication", "username-token is a header of SOAP: expected it on soap-inbound only");
        else if (endpoint.Authentication.Count > 1)
            errors.Add(Code, endpoint, "authentication", "username-token stands alone: the body has to be read for it");
    }

    private static void CheckHeader(string name, string property, SettingsRecord settings, ConfigErrors errors)
    {
        if (!HeaderRules.IsName(name) || HeaderRules.IsReserved(name))
            errors.Add("ESB-CFG-HEADER", settings, property, "expected the name of a header that is not reserved for the bus");
    }

    private static void CheckKeys(TokenCredentialConfig token, ConfigErrors errors)
    {
        if (token.Keys is not { } keys || !token.IsSound("keys"))
            return;
        try
        {
            TokenKeys.Load(keys);
        }
        catch (FileFaultException ex)
        {
            errors.Add("ESB-CFG-KEYS", token, "keys", ex.Message);
        }
    }

    private static bool Has(PartyConfig party, CredentialKind kind) =>
        kind switch
        {
            CredentialKind.ApiKey => party.ApiKeys.Count > 0,
            CredentialKind.Basic or CredentialKind.UsernameToken => party.Users.Count > 0,
            CredentialKind.Jwt => party.Tokens.Count > 0,
            CredentialKind.Certificate => party.Certificates.Count > 0,
            _ => party.SignatureKeys.Count > 0,
        };
}
