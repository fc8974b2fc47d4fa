using System.Text;
using Esb.Core.Configuration.Settings;
using Esb.Endpoints.Http.Access;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Http.Credentials;

/// <summary>The credentials of http-outbound endpoints.</summary>
internal static partial class TargetCredentials
{
    private const string Authorization = "Authorization";

    public static IServiceCollection AddTargetCredentials(this IServiceCollection services) => services
        .AddKind<BasicTargetConfig>("basic", "A user and a password.")
        .AddKind<ApiKeyTargetConfig>("api-key", "A key in a header.")
        .AddKind<BearerTargetConfig>("bearer", "A bearer token.");

    /// <summary>The credential of an endpoint; null where it has none.</summary>
    /// <exception cref="KeyFileException">The file of the token cannot be used.</exception>
    public static TargetCredential? Of(HttpOutboundConfig config, TimeProvider time, ILogger logger) => config.Authentication switch
    {
        BasicTargetConfig basic => Always(Authorization, $"Basic {Convert.ToBase64String(Encoding.UTF8.GetBytes($"{basic.User}:{basic.Password}"))}"),
        ApiKeyTargetConfig key => Always(key.Header, key.Key),
        BearerTargetConfig { File: { } file } => FromFile(file, config.Name, time, logger),
        BearerTargetConfig bearer => Always(Authorization, $"Bearer {bearer.Token}"),
        _ => null,
    };

    /// <summary>A handler that puts the credential into what it hands on; the inner one where there is none.</summary>
    public static HttpMessageHandler Around(HttpMessageHandler inner, TargetCredential? credential) =>
        credential is null ? inner : new CredentialHandler(credential.Header, credential.Value, inner);

    /// <summary>The token in a file.</summary>
    /// <exception cref="KeyFileException">There is none.</exception>
    public static string ReadToken(string file)
    {
        try
        {
            var token = File.ReadAllText(file, Encoding.UTF8).Trim();
            return token.Length > 0 && !token.Any(c => c is <= ' ' or > '~') ? token : throw new KeyFileException("holds no token");
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            throw new KeyFileException(File.Exists(file) ? "cannot be read" : "does not exist");
        }
    }

    private static TargetCredential Always(string header, string value) => new(header, () => value);

    private static TargetCredential FromFile(string file, string endpoint, TimeProvider time, ILogger logger)
    {
        var token = new RenewedFile<string>([file], () => $"Bearer {ReadToken(file)}", time, fault => LogRenewal(logger, endpoint, fault));
        return new TargetCredential(Authorization, () => token.Current);
    }

    private static IServiceCollection AddKind<TConfig>(this IServiceCollection services, string kind, string description)
        where TConfig : TargetCredentialConfig => services.AddSingleton(new SettingsKind(typeof(TargetCredentialConfig), kind, typeof(TConfig), description));

    private static void LogRenewal(ILogger logger, string endpoint, string? fault)
    {
        if (fault is null) LogRenewed(logger, endpoint);
        else LogNotRenewed(logger, endpoint, fault);
    }

    [LoggerMessage(EventId = 2183, Level = LogLevel.Information, Message = "The token of endpoint {Endpoint} has been renewed")]
    private static partial void LogRenewed(ILogger logger, string endpoint);

    [LoggerMessage(EventId = 2184, Level = LogLevel.Error, Message = "The renewed file with the token of endpoint {Endpoint} {Fault}; the one from before goes on being used")]
    private static partial void LogNotRenewed(ILogger logger, string endpoint, string fault);
}
