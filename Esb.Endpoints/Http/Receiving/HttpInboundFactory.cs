using Esb.Configuration;
using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Expressions;
using Esb.Core.Storage;
using Esb.Delivery.Intake;
using Esb.Delivery.Intake.Overload;
using Esb.Endpoints.Http.Access;
using Esb.Endpoints.Http.Idempotency;
using Esb.Endpoints.Http.Listening;
using Esb.Endpoints.Http.Relaying;
using Esb.Endpoints.Http.Sending;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Http.Receiving;

/// <summary>A compiled http-inbound endpoint. Immutable.</summary>
/// <param name="Settings">Its settings.</param>
/// <param name="Conditions">The conditions of its routes, in order.</param>
/// <param name="TargetOf">Returns the settings of the http-outbound endpoint to relay to, by name.</param>
internal sealed record HttpInboundModel(
    HttpInboundConfig Settings,
    IReadOnlyList<IMessageCondition> Conditions,
    Func<string, HttpOutboundConfig> TargetOf
);

/// <summary>Creates http-inbound endpoints on the services of a running bus.</summary>
internal sealed class HttpInboundFactory(
    LimitsConfig limits,
    HttpListeners listeners,
    ListenerModels known,
    HttpTargets targets,
    AccessFactory gates,
    IIdempotencyKeys keys,
    Admissions admissions,
    IAuditTrail trail,
    IntakeStates states,
    TimeProvider time,
    ILoggerFactory loggers
)
{
    public HttpInboundEndpoint Create(HttpInboundModel model, IMessageIntake intake)
    {
        var settings = model.Settings;
        IHttpExchange exchange = settings.Relay is { } relay
            ? RelayOf(model, relay)
            : new MessageExchange(
                settings,
                intake,
                new HttpMessageReader(settings, MaxBodyBytes(settings), time, BodyTimeoutOf(settings)),
                KeyedRequestsOf(settings, intake)
            );
        var access = gates.Create(settings, intake);
        return new HttpInboundEndpoint(
            settings,
            listeners.RouteOf(settings.Name),
            gates.Guard(settings, exchange, access, MaxBodyBytes(settings)),
            access,
            AdmissionOf(settings, intake),
            states.Of(settings.Name),
            loggers.CreateLogger<HttpInboundEndpoint>()
        );
    }

    private TimeSpan BodyTimeoutOf(HttpInboundConfig settings) =>
        known.All.First(listener => listener.Config.Name == settings.Listener).Config.BodyTimeout;

    private IHttpExchange RelayOf(HttpInboundModel model, string relay)
    {
        var settings = model.Settings;
        var reader = new HttpMessageReader(settings, MaxBodyBytes(settings), time);
        var (routes, state) = (RoutesOf(model, relay, reader), states.Of(settings.Name));
        return settings.Audit is null
            ? new RelayExchange(settings, routes, state)
            : new AuditedRelayExchange(
                settings,
                routes,
                state,
                new RelayJournal(settings, reader, trail, time, loggers.CreateLogger<RelayRecord>())
            );
    }

    // Relays need no topic. They are audited only on request, and hold no message unless they examine the body.
    private Admission AdmissionOf(HttpInboundConfig settings, IMessageIntake intake)
    {
        var isRelay = settings.Relay is not null;
        return admissions.Of(
            settings,
            intake.NeedsTopics,
            holdsMessages: !isRelay || settings.Routes.Count > 0,
            isRecorded: !isRelay || settings.Audit is not null
        );
    }

    private KeyedRequests? KeyedRequestsOf(HttpInboundConfig settings, IMessageIntake intake) =>
        settings.Idempotency ? new KeyedRequests(settings.Name, keys, intake, time, loggers.CreateLogger<KeyedRequests>()) : null;

    private RelayRoutes RoutesOf(HttpInboundModel model, string otherwise, HttpMessageReader reader) =>
        new(
            model.Settings.Name,
            [.. model.Settings.Routes.Zip(model.Conditions, (route, condition) => new RelayRoute(condition, RelayTo(model, route.Relay)))],
            RelayTo(model, otherwise),
            reader,
            MaxBodyBytes(model.Settings),
            readsProperties: model
                .Settings.Routes.SelectMany(route => route.If.Values)
                .Any(value => value.Property is not null || value.Template is not null)
        );

    private RelayTarget RelayTo(HttpInboundModel model, string relay)
    {
        var (settings, outbound) = (model.Settings, model.TargetOf(relay));
        return new RelayTarget(
            targets.Of(outbound),
            new RelayHeaders(settings, outbound),
            outbound.Timeout < settings.Timeout ? outbound.Timeout : settings.Timeout
        );
    }

    private long MaxBodyBytes(HttpInboundConfig settings) => (settings.MaxBodySize ?? limits.MaxBodySize).Bytes;
}
