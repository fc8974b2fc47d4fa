using Esb.Content.Xml;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Endpoints.Http.Sending;
using Esb.Endpoints.Http.Wire;
using Esb.Endpoints.Soap.Envelopes;

namespace Esb.Endpoints.Soap.Sending;

/// <summary>Writes requests with an envelope around a message. Used by one message at a time.</summary>
/// <remarks>No Idempotency-Key is sent: services of SOAP do not know it, so a request whose answer was lost is not sent to another
/// server.</remarks>
internal sealed class SoapRequestWriter(
    SoapOutboundConfig config,
    IMessageValue? action,
    XmlInput xml,
    long maxBodyBytes,
    TimeProvider time
)
{
    private readonly SoapVersion _version = config.Version == SoapVersions.V11 ? SoapVersion.V11 : SoapVersion.V12;
    private readonly HeaderRules _rules = new(config.Headers, new HeaderRewrite(config.RewriteHeaders));
    private readonly bool _tellsWay = new HeaderRewrite(config.RewriteHeaders).NameOf(ViaField.Name) is not null;
    private readonly SecurityHeader? _security = config.Security is { } token ? new SecurityHeader(token, time) : null;

    /// <exception cref="EndpointException">The message is no XML, or cannot be sent for another reason; nothing was sent.</exception>
    public async Task<HttpRequestMessage> WriteAsync(EsbMessage message, Uri address, CancellationToken cancellationToken)
    {
        var via = OutgoingHops.ViaOf(config.Name, message);
        await message.Body.BufferAsync(maxBodyBytes, cancellationToken);
        var request = new HttpRequestMessage(HttpMethod.Post, address);
        try
        {
            var body = message.Body.Length == 0 ? default : xml.RootOf(message.Body.Bytes, out _);
            request.Content = new ReadOnlyMemoryContent(
                EnvelopeWriter.Write(_version, _security is null ? [] : _security.Write(), body.Span)
            );
            SetAction(request, action is null ? "" : MessageValues.AsText(action.Evaluate(new MessageContext(message, config.Name))) ?? "");
            foreach (var (name, value) in HttpFields.Outgoing(message, _rules))
            {
                if (!request.Headers.TryAddWithoutValidation(name, value))
                    request.Content.Headers.TryAddWithoutValidation(name, value);
            }

            if (_tellsWay)
                request.Headers.TryAddWithoutValidation(ViaField.Name, via);
            return request;
        }
        catch (EsbException ex)
        {
            request.Dispose();
            throw new EndpointException(config.Name, ex.Code, ex.Message, isTransient: false, ex, FaultKind.Invalid) { IsUnsent = true };
        }
    }

    private void SetAction(HttpRequestMessage request, string text)
    {
        if (!HeaderRules.IsValue(text) || text.AsSpan().ContainsAny('"', '\\'))
            throw new EsbException(
                "ESB-SOAP-ACTION",
                $"The action of the request to the endpoint '{config.Name}' has quotes or control characters.",
                FaultKind.Invalid
            );
        var type = _version.ContentType;
        if (_version == SoapVersion.V11)
            request.Headers.TryAddWithoutValidation("SOAPAction", $"\"{text}\"");
        else if (text.Length > 0)
            type += $"; action=\"{text}\"";
        request.Content!.Headers.TryAddWithoutValidation("Content-Type", type);
    }
}
