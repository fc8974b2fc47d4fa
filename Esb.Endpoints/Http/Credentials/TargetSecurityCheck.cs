using Esb.Core.Certificates;
using Esb.Core.Configuration;
using Esb.Core.Messages;
using Esb.Endpoints.Http.Access;
using Esb.Endpoints.Http.Credentials.OAuth;
using Esb.Endpoints.Http.Sending;
using Esb.Endpoints.Http.Targets;

namespace Esb.Endpoints.Http.Credentials;

/// <summary>Refuses unusable certificates and credentials of an http-outbound endpoint.</summary>
internal static class TargetSecurityCheck
{
    private const string OneLine = "expected one line without control characters, for it goes into a header";

    public static void Check(HttpTargetingConfig settings, ConfigErrors errors, DateTimeOffset now)
    {
        if (settings.Tls is { } tls)
            CheckTls(settings, tls, errors, now);
        if (settings.Authentication is ApiKeyTargetConfig key && (!HeaderRules.IsName(key.Header) || HeaderRules.IsReserved(key.Header)))
            errors.Add("ESB-CFG-HEADER", key, "header", "expected the name of a header that is not reserved for the bus");
        if (settings.Authentication is ApiKeyTargetConfig { Key: { } secret } withKey && !HeaderRules.IsValue(secret))
            errors.Add("ESB-CFG-HEADER", withKey, "key", OneLine);
        if (settings.Authentication is BearerTargetConfig { Token: { } token } withToken && !HeaderRules.IsValue(token))
            errors.Add("ESB-CFG-HEADER", withToken, "token", OneLine);
        if (settings.Authentication is BearerTargetConfig { File: { } file } bearer)
            CheckToken(bearer, file, errors);
        if (settings.Authentication is OAuthTargetConfig oauth)
            HttpAddressRules.CheckAddress(oauth, "tokenUrl", oauth.TokenUrl, settings.AllowInsecure, errors);
        if (settings.Authentication is BasicTargetConfig basic && basic.User.Contains(':', StringComparison.Ordinal))
            errors.Add("ESB-CFG-VALUE", basic, "user", "expected a name without a colon, which ends it");
    }

    private static void CheckTls(HttpTargetingConfig settings, ClientTlsConfig tls, ConfigErrors errors, DateTimeOffset now)
    {
        errors.CheckFiles(tls, now);
        if (settings.Addresses.Any(address => address.StartsWith("http://", StringComparison.OrdinalIgnoreCase)))
            errors.Add("ESB-CFG-URL", settings, settings.Url is null ? "urls" : "url", "expected https://, as \"tls\" is given");
        if (tls.ServerName is { } name && Uri.CheckHostName(name) == UriHostNameType.Unknown)
            errors.Add("ESB-CFG-VALUE", tls, "serverName", "expected the name of a host");
    }

    private static void CheckToken(BearerTargetConfig bearer, string file, ConfigErrors errors)
    {
        try
        {
            TargetCredentials.ReadToken(file);
        }
        catch (FileFaultException ex)
        {
            errors.Add("ESB-CFG-KEYS", bearer, "file", ex.Message);
        }
    }
}
