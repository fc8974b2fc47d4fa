using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;
using Esb.Core.Expressions;
using Esb.Endpoints.Http.Listening;
using Esb.Endpoints.Http.Sending;
using Esb.Endpoints.Http.Wire;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Endpoints.Http.Receiving;

/// <summary>The type <c>http-inbound</c>.</summary>
internal sealed class HttpInboundType(IReadOnlyDictionary<string, EndpointConfig> endpoints, IExpressionCompiler expressions)
    : InboundEndpointType<HttpInboundConfig>
{
    protected override CreateInbound? Compile(HttpInboundConfig settings, ConfigErrors errors)
    {
        Check(settings, errors);
        var conditions = settings.Routes.Select(route => expressions.Compile(route.If, errors)).OfType<IMessageCondition>().ToList();
        if (conditions.Count < settings.Routes.Count)
            return null;
        return (services, intake) =>
            services.GetRequiredService<HttpInboundFactory>().Create(new HttpInboundModel(settings, conditions, TargetOf), intake);
    }

    private void Check(HttpInboundConfig settings, ConfigErrors errors)
    {
        if (RoutePath.WhatIsWrong(settings.RequestPath) is { } wrong)
            errors.Add("ESB-CFG-VALUE", settings, "path", wrong);
        if (settings.SingleInstance)
            Refuse(settings, errors, "singleInstance", "true", "expected false: callers of the other hosts would find no endpoint");
        if (settings.IsSound("methods") && settings.Methods.Count == 0)
            Refuse(settings, errors, "methods", "", $"expected at least one of {string.Join(", ", HttpMethodNames.All)}");
        foreach (var method in settings.Methods.Where(method => !HttpMethodNames.IsKnown(method)))
            Refuse(settings, errors, "methods", method, HttpMethodNames.Expected(method));
        foreach (var type in settings.Accept.Where(type => !AcceptedTypes.IsRange(type)))
            Refuse(settings, errors, "accept", type, "expected a content type such as \"application/xml\" or \"text/*\"");
        QueryParameters.Check(settings, errors);
        CheckTransfer(settings, errors);
        if (settings.Relay is { } relay)
            CheckTarget(settings, relay, errors);
        if (settings.Relay is null && settings.Routes.Count > 0 && settings.IsSound("relay"))
            errors.Add(
                "ESB-CFG-VALUE",
                settings,
                "routes",
                "only what is relayed can be sent on other ways: expected relay, for what takes none of them"
            );
        foreach (var route in settings.Routes)
            CheckTarget(route, route.Relay, errors);
    }

    private static void CheckTransfer(HttpInboundConfig settings, ConfigErrors errors)
    {
        const long MostBuffered = 1L << 30;
        if (settings is { Transfer: BodyTransfer.Streamed, Process: null, Publish: null } && settings.IsSound("transfer"))
            errors.Add("ESB-CFG-VALUE", settings, "transfer", "expected beside process or publish, which read a body piece by piece");
        if (settings is { Transfer: BodyTransfer.Streamed, Mode: ExchangePattern.RequestReply })
            errors.Add("ESB-CFG-VALUE", settings, "mode", "a body that is read once is no answer: expected one-way");
        if (settings is { Transfer: BodyTransfer.Buffered, Relay: null, MaxBodySize.Bytes: > MostBuffered })
            errors.Add("ESB-CFG-RANGE", settings, "maxBodySize", "expected 1B..1GiB, or \"transfer\": \"streamed\"");
    }

    private void CheckTarget(SettingsRecord place, string relay, ConfigErrors errors)
    {
        if (EndpointOf(relay) is { } endpoint and not HttpOutboundConfig)
            errors.Add("ESB-CFG-VALUE", place, "relay", $"expected the name of an http-outbound endpoint; {endpoint.Name} is another kind");
        else if (EndpointOf(relay) is HttpOutboundConfig outbound && (outbound.RequestPath is not null || outbound.Query.Count > 0))
            errors.Add(
                "ESB-CFG-RELAY",
                place,
                "relay",
                $"a relay sends the caller's query to the url as it is, and '{outbound.Name}' has a path or a query of its own; "
                    + $"expected another endpoint"
            );
    }

    private HttpOutboundConfig TargetOf(string relay) => (HttpOutboundConfig)EndpointOf(relay)!;

    private EndpointConfig? EndpointOf(string relay) => endpoints.GetValueOrDefault(relay);

    private static void Refuse(HttpInboundConfig settings, ConfigErrors errors, string property, string value, string expected) =>
        errors.Add(new ConfigError("ESB-CFG-VALUE", $"{settings.Path}.{property}", $"\"{value}\"", expected, settings.Origin));
}
