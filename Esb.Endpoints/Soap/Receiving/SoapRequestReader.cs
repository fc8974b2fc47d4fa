using System.Collections.Frozen;
using System.Xml;
using Esb.Content.Wsdl;
using Esb.Content.Xml;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Endpoints.Http.Receiving;
using Esb.Endpoints.Soap.Envelopes;
using Microsoft.AspNetCore.Http;
using Microsoft.Net.Http.Headers;

namespace Esb.Endpoints.Soap.Receiving;

/// <summary>Creates a message from a request with an envelope. Thread-safe.</summary>
internal sealed class SoapRequestReader(
    SoapInboundConfig settings,
    WsdlModel wsdl,
    FrozenDictionary<XmlQualifiedName, SoapRoute> routes,
    EnvelopeReader envelopes,
    HttpMessageReader reader,
    HeaderDuties duties,
    XmlInput xml
)
{
    private static readonly AcceptedTypes Types = new([SoapVersion.V11.MediaType, SoapVersion.V12.MediaType, "application/xml"]);

    /// <summary>Reads the message without its body; nothing is checked yet.</summary>
    public EsbMessage ReadHead(HttpRequest request) => reader.ReadEnvelope(request);

    /// <summary>Reads the envelope to its end.</summary>
    /// <exception cref="EsbException">The type or size of the body is not accepted, or it is no envelope of a version that the WSDL
    /// binds.</exception>
    public async Task<SoapEnvelope> ReadEnvelopeAsync(HttpContext context)
    {
        RequireType(context);
        var envelope = envelopes.Read((await reader.ReadBodyAsync(context)).Bytes);
        if (envelope.Version == SoapVersion.V11 ? !wsdl.HasSoap11 : !wsdl.HasSoap12)
            throw new SoapFaultException(
                SoapFaultCode.VersionMismatch,
                "ESB-SOAP-VERSION",
                $"The envelope is of SOAP {envelope.Version.Name}, which the service does not speak."
            );
        context.Features.Set(new SoapCall(envelope.Version));
        return envelope;
    }

    /// <summary>Completes the message with the child of Body, after all checks.</summary>
    /// <exception cref="EsbException">The operation is unknown, a header is not understood, or the child breaks a schema.</exception>
    public SoapRequest Complete(HttpRequest request, EsbMessage head, SoapEnvelope envelope)
    {
        duties.Require(envelope);
        if (envelope.Child is not { } child)
            throw new EsbException("ESB-SOAP-BODY", "The Body is empty.", FaultKind.Malformed);
        if (!routes.TryGetValue(child, out var route))
            throw new EsbException(
                "ESB-SOAP-OPERATION",
                $"The service has no operation with the element {{{Clipped(child.Namespace)}}}{Clipped(child.Name)}.",
                FaultKind.Malformed
            );

        var action = SoapAction.Read(request);
        SoapAction.Require(action, route.Operation, wsdl.Operations);
        if (envelope.Headers.Count > 0)
            SoapAction.Require(Addressing.ActionOf(envelope, xml), route.Operation, wsdl.Operations);
        var message = head with
        {
            CorrelationId = HttpMessageReader.ReadCorrelation(request),
            ContentType = "application/xml",
            Properties = PropertiesOf(request, envelope, route, action),
            Body = MessageBody.FromBytes(envelope.Body),
        };
        if (settings.Validate)
            wsdl.Validate(message);
        return new SoapRequest(message, envelope, route);
    }

    private static void RequireType(HttpContext context)
    {
        if (
            MediaTypeHeaderValue.TryParse(context.Request.ContentType, out var type)
            && type.Type.Equals("multipart", StringComparison.OrdinalIgnoreCase)
        )
            throw HttpProblems.Of(
                StatusCodes.Status415UnsupportedMediaType,
                "ESB-SOAP-MULTIPART",
                "Envelopes with attachments (MIME and MTOM) are not taken."
            );
        if (context.Request.ContentType is not null && Types.Take(context.Request.ContentType))
            return;
        context.Response.Headers.Accept = Types.ToString();
        throw HttpProblems.Of(
            StatusCodes.Status415UnsupportedMediaType,
            "ESB-HTTP-CONTENTTYPE",
            $"The content type is not one of {Types}."
        );
    }

    private Dictionary<string, object> PropertiesOf(HttpRequest request, SoapEnvelope envelope, SoapRoute route, string action)
    {
        var properties = reader.ReadProperties(request) is { } read ? new Dictionary<string, object>(read) : [];
        properties["soap.operation"] = route.Operation.Name;
        properties["soap.version"] = envelope.Version.Name;
        if (action.Length > 0)
            properties["soap.action"] = action;
        duties.AddTo(properties, envelope, xml);
        return properties;
    }

    private static string Clipped(string text) => SafeText.Of(text, 100);
}
