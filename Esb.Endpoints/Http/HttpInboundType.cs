using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
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
    HttpListeners listeners,
    HttpTargets targets,
    AccessFactory gates,
    IIdempotencyKeys keys,
    OverloadGate overload,
    IAuditGate audit,
    IntakeStates states,
    TimeProvider time,
    ILoggerFactory loggers)
    : InboundEndpointType<HttpInboundConfig>
{
    private const string PathExpected = "expected a path as it is once decoded, such as \"/orders\", without query, fragment and dot segments";

    protected override void Check(HttpInboundConfig settings, ConfigErrors errors)
    {
        if (settings.IsSound("path") && !IsPath(settings.RequestPath)) Refuse(settings, errors, "path", settings.RequestPath, PathExpected);
        if (settings.SingleInstance) Refuse(settings, errors, "singleInstance", "true", "expected false: callers of the other hosts would find nobody");
        if (settings.IsSound("methods") && settings.Methods.Count == 0) Refuse(settings, errors, "methods", "", $"expected at least one of {string.Join(", ", HttpMethodNames.All)}");
        foreach (var method in settings.Methods.Where(method => !HttpMethodNames.IsKnown(method)))
            Refuse(settings, errors, "methods", method, HttpMethodNames.Expected(method));
        foreach (var type in settings.Accept.Where(type => !AcceptedTypes.IsRange(type)))
            Refuse(settings, errors, "accept", type, "expected a content type such as \"application/xml\" or \"text/*\"");
        if (settings.Relay is { } relay && EndpointOf(relay) is { } endpoint and not HttpOutboundConfig)
            Refuse(settings, errors, "relay", relay, $"expected the name of an http-outbound endpoint; {endpoint.Name} is another kind");
    }

    protected override IInboundEndpoint Create(HttpInboundConfig settings, IMessageIntake intake)
    {
        var exchange = settings.Relay is { } relay
            ? RelayTo((HttpOutboundConfig)EndpointOf(relay)!, settings)
            : new MessageExchange(settings, intake, new HttpMessageReader(settings, MaxBodyBytes(settings), time), KeyedRequestsOf(settings, intake));
        var access = gates.Create(settings, intake);
        return new HttpInboundEndpoint(
            settings, listeners.RouteOf(settings.Name), gates.Guard(settings, exchange, access, MaxBodyBytes(settings)), access, AdmissionOf(settings, intake), states.Of(settings.Name), loggers.CreateLogger<HttpInboundEndpoint>());
    }

    // Relays hold no message, need no topic, and are not recorded.
    private Admission AdmissionOf(HttpInboundConfig settings, IMessageIntake intake) =>
        new(settings.Relay is null ? overload : null, settings.Relay is null ? audit : null, intake.NeedsTopics, new CallGate(settings.MaxConcurrentCalls, time));

    private KeyedRequests? KeyedRequestsOf(HttpInboundConfig settings, IMessageIntake intake) =>
        settings.Idempotency ? new KeyedRequests(settings.Name, keys, intake, time, loggers.CreateLogger<KeyedRequests>()) : null;

    private IHttpExchange RelayTo(HttpOutboundConfig outbound, HttpInboundConfig settings) =>
        new RelayExchange(settings, targets.Of(outbound), new RelayHeaders(settings, outbound), outbound.Timeout < settings.Timeout ? outbound.Timeout : settings.Timeout, states.Of(settings.Name));

    private EndpointConfig? EndpointOf(string relay) => configuration.Named<EndpointConfig>("endpoints").GetValueOrDefault(relay);

    private long MaxBodyBytes(HttpInboundConfig settings) => (settings.MaxBodySize ?? configuration.Section<LimitsConfig>("limits").MaxBodySize).Bytes;

    private static bool IsPath(string path) =>
        path.StartsWith('/') && !path.Any(c => char.IsControl(c) || "?#%\\".Contains(c)) && !path.Split('/').Any(segment => segment is "." or "..");

    private static void Refuse(HttpInboundConfig settings, ConfigErrors errors, string property, string value, string expected) =>
        errors.Add(new ConfigError("ESB-CFG-VALUE", $"{settings.Path}.{property}", $"\"{value}\"", expected, settings.Origin));
}
