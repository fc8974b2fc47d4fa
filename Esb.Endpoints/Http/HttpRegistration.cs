using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Configuration.Revisions;
using Esb.Core;
using Esb.Core.Listening;
using Esb.Core.Parties;
using Esb.Endpoints.Http.Access;
using Esb.Endpoints.Http.Credentials;
using Esb.Endpoints.Http.Listening;
using Esb.Endpoints.Http.Receiving;
using Esb.Endpoints.Http.Sending;
using Esb.Endpoints.Http.Tls;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Endpoints.Http;

/// <summary>Registers the HTTP endpoint types, their listeners and their targets.</summary>
internal static class HttpRegistration
{
    public static IServiceCollection AddHttpEndpoints(this IServiceCollection services) =>
        services
            .AddSection<IReadOnlyDictionary<string, ListenerConfig>>(
                "listeners",
                "Where inbound endpoints of HTTP are reached.",
                """{ "public": { "url": "http://127.0.0.1:8080" } }"""
            )
            .AddEndpointType<HttpInboundType, HttpInboundConfig>("http-inbound", "Takes requests of HTTP in, or relays them.")
            .AddEndpointType<HttpOutboundType, HttpOutboundConfig>(
                "http-outbound",
                "Sends HTTP requests to one address, or to several servers."
            )
            .AddScoped<PartyCredentials>()
            .AddSingleton<GuessBrake>()
            .AddScoped<AccessFactory>()
            .AddRule<AccessRule>()
            .AddRule<ListenerTlsRule>()
            .AddTargetCredentials()
            .AddSingleton<HttpTargets>()
            .AddSingleton<IRevisionPart>(provider => provider.GetRequiredService<HttpTargets>())
            .AddScoped<HttpInboundFactory>()
            .AddCompiler<ListenerModels, ListenerCompiler>()
            .AddCompiling<IListeningPart, ListenerPlaces>()
            .AddSingleton<HttpListeners>()
            .AddSingleton<IBusPart>(provider => provider.GetRequiredService<HttpListeners>())
            .AddSingleton<IRevisionPart>(provider => provider.GetRequiredService<HttpListeners>())
            .AddRule<HttpRoutesRule>();
}
