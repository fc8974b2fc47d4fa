using System.Text;
using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Storage;
using Esb.Endpoints.Http.Access;
using Esb.Endpoints.Http.Credentials.OAuth;
using Esb.Endpoints.Http.Sending;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Http.Credentials;

/// <summary>The credentials of http-outbound endpoints.</summary>
internal static class TargetCredentials
{
    private const string Authorization = "Authorization";

    public static IServiceCollection AddTargetCredentials(this IServiceCollection services) =>
        services
            .AddKind<BasicTargetConfig>("basic", "A user and a password.")
            .AddKind<ApiKeyTargetConfig>("api-key", "A key in a header.")
            .AddKind<BearerTargetConfig>("bearer", "A bearer token.")
            .AddKind<OAuthTargetConfig>("oauth2", "A bearer token of an authorization server, by OAuth 2.0 client credentials.");

    /// <summary>Returns the credential of an endpoint; null if it has none.</summary>
    /// <param name="config">The endpoint.</param>
    /// <param name="connect">Creates the client for requests to an authorization server.</param>
    /// <param name="time">The clock.</param>
    /// <param name="logger">Logs renewed files and tokens.</param>
    /// <exception cref="FileFaultException">The token file cannot be used.</exception>
    public static TargetCredential? Of(HttpTargetingConfig config, Func<HttpMessageInvoker> connect, TimeProvider time, ILogger logger) =>
        config.Authentication switch
        {
            BasicTargetConfig basic => Always(
                Authorization,
                $"Basic {Convert.ToBase64String(Encoding.UTF8.GetBytes($"{basic.User}:{basic.Password}"))}"
            ),
            ApiKeyTargetConfig key => Always(key.Header, key.Key),
            BearerTargetConfig { File: { } file } => FromFile(file, config.Name, time, logger),
            BearerTargetConfig bearer => Always(Authorization, $"Bearer {bearer.Token}"),
            OAuthTargetConfig oauth => new ClientCredentials(
                config.Name,
                new TokenClient(config.Name, oauth, connect(), config.Timeout, time),
                time,
                logger
            ),
            _ => null,
        };

    /// <summary>Wraps a handler so that it sets the credential; returns the inner handler if there is no credential.</summary>
    public static HttpMessageHandler Around(HttpMessageHandler inner, TargetCredential? credential) =>
        credential is null ? inner : new CredentialHandler(credential, inner);

    /// <summary>Reads the token from a file.</summary>
    /// <exception cref="FileFaultException">The file does not exist, cannot be read, or holds no token.</exception>
    public static string ReadToken(string file)
    {
        try
        {
            if (File.Exists(file) && OwnerFile.FaultOf(file) is { } fault)
                throw new FileFaultException(fault);
            var token = File.ReadAllText(file, Encoding.UTF8).Trim();
            return token.Length > 0 && !token.Any(c => c is <= ' ' or > '~') ? token : throw new FileFaultException("holds no token");
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            throw new FileFaultException(File.Exists(file) ? "cannot be read" : "does not exist");
        }
    }

    private static GivenCredential Always(string header, string value) => new(header, () => value);

    private static GivenCredential FromFile(string file, string endpoint, TimeProvider time, ILogger logger)
    {
        var token = new RenewedFile<string>(
            $"the token of endpoint {endpoint}",
            [file],
            () => $"Bearer {ReadToken(file)}",
            AccessFiles.Interval,
            time,
            logger
        );
        return new GivenCredential(Authorization, () => token.Current);
    }

    private static IServiceCollection AddKind<TConfig>(this IServiceCollection services, string kind, string description)
        where TConfig : TargetCredentialConfig =>
        services.AddSingleton(new SettingsKind(typeof(TargetCredentialConfig), kind, typeof(TConfig), description));
}
