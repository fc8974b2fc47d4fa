using System.Collections.Frozen;
using System.Xml;
using Esb.Configuration;
using Esb.Content.Wsdl;
using Esb.Content.Xml;
using Esb.Core.Endpoints;
using Esb.Delivery.Intake;
using Esb.Delivery.Intake.Overload;
using Esb.Endpoints.Http.Access;
using Esb.Endpoints.Http.Listening;
using Esb.Endpoints.Http.Receiving;
using Esb.Endpoints.Soap.Envelopes;
using Esb.Endpoints.Soap.Security;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Soap.Receiving;

/// <summary>Creates soap-inbound endpoints on the services of a running bus.</summary>
internal sealed class SoapInboundFactory(
    LimitsConfig limits,
    XmlInput xml,
    HttpListeners listeners,
    AccessFactory gates,
    IIntakes intakes,
    Admissions admissions,
    IntakeStates states,
    TimeProvider time,
    ILoggerFactory loggers
)
{
    private const int MaxHeaders = 100;

    public HttpInboundEndpoint Create(SoapInboundConfig settings, WsdlModel wsdl, IMessageIntake intake)
    {
        var maxBodyBytes = (settings.MaxBodySize ?? limits.MaxBodySize).Bytes;
        var access = gates.Create(settings, intake);
        var tokens = settings.Authentication.Contains(CredentialKind.UsernameToken)
            ? new UsernameTokenCheck(gates.Passwords(), xml, time)
            : null;
        var routes = RoutesOf(settings, wsdl, intake, maxBodyBytes);
        var exchange = new SoapExchange(
            settings,
            new SoapRequestReader(
                settings,
                wsdl,
                routes,
                new EnvelopeReader(xml, MaxHeaders, settings.MaxHeaderSize.Bytes),
                new HttpMessageReader(settings, maxBodyBytes, time),
                new HeaderDuties(settings, tokens is not null),
                xml
            ),
            new WsdlAnswers(wsdl.Pages),
            tokens is null ? null : new TokenGate(tokens, access!),
            intake,
            xml
        );
        var needsTopics = intake.NeedsTopics || routes.Values.Any(route => route.Intake.NeedsTopics);
        return new HttpInboundEndpoint(
            settings,
            listeners.RouteOf(settings.Name),
            gates.Guard(settings, exchange, access, maxBodyBytes),
            access,
            admissions.Of(settings, needsTopics),
            states.Of(settings.Name),
            loggers.CreateLogger<HttpInboundEndpoint>()
        );
    }

    private FrozenDictionary<XmlQualifiedName, SoapRoute> RoutesOf(
        SoapInboundConfig settings,
        WsdlModel wsdl,
        IMessageIntake intake,
        long maxBodyBytes
    ) =>
        wsdl
            .Operations.Where(operation => settings.Operations.Count == 0 || settings.Operations.ContainsKey(operation.Name))
            .ToFrozenDictionary(operation => operation.Input, operation => RouteOf(settings, wsdl, operation, intake, maxBodyBytes));

    // An operation without an answer is one-way, and its sender hears no more than that it was accepted.
    private SoapRoute RouteOf(SoapInboundConfig settings, WsdlModel wsdl, WsdlOperation operation, IMessageIntake intake, long maxBodyBytes)
    {
        var isOneWay = operation.Output is null;
        if (isOneWay && settings.Mode == ExchangePattern.OneWay && settings.Operations.Count == 0)
            return new SoapRoute(operation, intake, isOneWay);
        var own = settings with
        {
            Process = settings.Operations.GetValueOrDefault(operation.Name, settings.Process!),
            Operations = new Dictionary<string, string>(),
            Mode = isOneWay ? ExchangePattern.OneWay : settings.Mode,
        };
        var check = isOneWay ? null : new SoapAnswerCheck(operation, settings.Validate ? wsdl : null, xml, maxBodyBytes);
        return new SoapRoute(operation, intakes.Create(own, check is null ? null : check.RunAsync), isOneWay);
    }
}
