using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;
using Esb.Core.Expressions;
using Esb.Core.Storage;
using Esb.Endpoints.Http.Access;
using Esb.Endpoints.Http.Idempotency;
using Esb.Endpoints.Http.Relaying;
using Esb.Endpoints.Intake;
using Esb.Endpoints.Intake.Overload;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Http;

/// <summary>The type <c>http-inbound</c>.</summary>
internal sealed class HttpInboundType(
    EsbConfiguration configuration,
    IExpressionCompiler expressions,
    HttpListeners listeners,
    HttpTargets targets,
    AccessFactory gates,
    IIdempotencyKeys keys,
    OverloadGate overload,
    IAuditGate audit,
    IAuditTrail trail,
    IntakeStates states,
    TimeProvider time,
    ILoggerFactory loggers)
    : InboundEndpointType<HttpInboundConfig>
{
    private const string PathExpected = "expected a path as it is once decoded, such as \"/orders\", without query, fragment and dot segments";

    protected override Func<IMessageIntake, IInboundEndpoint>? Prepare(HttpInboundConfig settings, ConfigErrors errors)
    {
        Check(settings, errors);
        var conditions = settings.Routes.Select(route => expressions.Compile(route.If, errors)).OfType<IMessageCondition>().ToList();
        return conditions.Count < settings.Routes.Count ? null : intake => Create(settings, conditions, intake);
    }

    private void Check(HttpInboundConfig settings, ConfigErrors errors)
    {
        if (settings.IsSound("path") && !IsPath(settings.RequestPath)) Refuse(settings, errors, "path", settings.RequestPath, PathExpected);
        if (settings.SingleInstance) Refuse(settings, errors, "singleInstance", "true", "expected false: callers of the other hosts would find nobody");
        if (settings.IsSound("methods") && settings.Methods.Count == 0) Refuse(settings, errors, "methods", "", $"expected at least one of {string.Join(", ", HttpMethodNames.All)}");
        foreach (var method in settings.Methods.Where(method => !HttpMethodNames.IsKnown(method)))
            Refuse(settings, errors, "methods", method, HttpMethodNames.Expected(method));
        foreach (var type in settings.Accept.Where(type => !AcceptedTypes.IsRange(type)))
            Refuse(settings, errors, "accept", type, "expected a content type such as \"application/xml\" or \"text/*\"");
        QueryParameters.Check(settings, errors);
        if (settings.Relay is { } relay) CheckTarget(settings, relay, errors);
        if (settings.Relay is null && settings.Routes.Count > 0 && settings.IsSound("relay")) errors.Add("ESB-CFG-VALUE", settings, "routes", "only what is relayed can be sent on other ways: expected relay, for what takes none of them");
        foreach (var route in settings.Routes.Where(route => route.IsSound("relay"))) CheckTarget(route, route.Relay, errors);
    }

    private HttpInboundEndpoint Create(HttpInboundConfig settings, IReadOnlyList<IMessageCondition> conditions, IMessageIntake intake)
    {
        IHttpExchange exchange = settings.Relay is { } relay
            ? RelayOf(settings, relay, conditions)
            : new MessageExchange(settings, intake, new HttpMessageReader(settings, MaxBodyBytes(settings), time), KeyedRequestsOf(settings, intake));
        var access = gates.Create(settings, intake);
        return new HttpInboundEndpoint(
            settings, listeners.RouteOf(settings.Name), gates.Guard(settings, exchange, access, MaxBodyBytes(settings)), access, AdmissionOf(settings, intake), states.Of(settings.Name), loggers.CreateLogger<HttpInboundEndpoint>());
    }

    private void CheckTarget(SettingsRecord place, string relay, ConfigErrors errors)
    {
        if (EndpointOf(relay) is { } endpoint and not HttpOutboundConfig)
            errors.Add(new ConfigError("ESB-CFG-VALUE", $"{place.Path}.relay", $"\"{relay}\"", $"expected the name of an http-outbound endpoint; {endpoint.Name} is another kind", place.Origin));
    }

    private IHttpExchange RelayOf(HttpInboundConfig settings, string relay, IReadOnlyList<IMessageCondition> conditions)
    {
        var reader = new HttpMessageReader(settings, MaxBodyBytes(settings), time);
        var (routes, state) = (RoutesOf(settings, relay, conditions, reader), states.Of(settings.Name));
        return settings.Audit is null
            ? new RelayExchange(settings, routes, state)
            : new AuditedRelayExchange(settings, routes, state, new RelayJournal(settings, reader, trail, time, loggers.CreateLogger<RelayRecord>()));
    }

    // Relays need no topic, are recorded only where that is asked for, and those that look into no body hold no message.
    private Admission AdmissionOf(HttpInboundConfig settings, IMessageIntake intake)
    {
        var isRelay = settings.Relay is not null;
        return new(isRelay && settings.Routes.Count == 0 ? null : overload, isRelay && settings.Audit is null ? null : audit, intake.NeedsTopics, new CallGate(settings.MaxConcurrentCalls, time));
    }

    private KeyedRequests? KeyedRequestsOf(HttpInboundConfig settings, IMessageIntake intake) =>
        settings.Idempotency ? new KeyedRequests(settings.Name, keys, intake, time, loggers.CreateLogger<KeyedRequests>()) : null;

    private RelayRoutes RoutesOf(HttpInboundConfig settings, string otherwise, IReadOnlyList<IMessageCondition> conditions, HttpMessageReader reader) => new(
        settings.Name,
        [.. settings.Routes.Zip(conditions, (route, condition) => new RelayRoute(condition, RelayTo(settings, route.Relay)))],
        RelayTo(settings, otherwise),
        reader,
        MaxBodyBytes(settings));

    private RelayTarget RelayTo(HttpInboundConfig settings, string relay)
    {
        var outbound = (HttpOutboundConfig)EndpointOf(relay)!;
        return new RelayTarget(targets.Of(outbound), new RelayHeaders(settings, outbound), outbound.Timeout < settings.Timeout ? outbound.Timeout : settings.Timeout);
    }

    private EndpointConfig? EndpointOf(string relay) => configuration.Named<EndpointConfig>("endpoints").GetValueOrDefault(relay);

    private long MaxBodyBytes(HttpInboundConfig settings) => (settings.MaxBodySize ?? configuration.Section<LimitsConfig>("limits").MaxBodySize).Bytes;

    private static bool IsPath(string path) =>
        path.StartsWith('/') && !path.Any(c => char.IsControl(c) || "?#%\\".Contains(c)) && !path.Split('/').Any(segment => segment is "." or "..");

    private static void Refuse(HttpInboundConfig settings, ConfigErrors errors, string property, string value, string expected) =>
        errors.Add(new ConfigError("ESB-CFG-VALUE", $"{settings.Path}.{property}", $"\"{value}\"", expected, settings.Origin));
}
