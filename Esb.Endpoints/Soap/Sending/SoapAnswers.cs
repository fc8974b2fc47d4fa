using Esb.Content.Xml;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Endpoints.Http.Sending;
using Esb.Endpoints.Soap.Envelopes;

namespace Esb.Endpoints.Soap.Sending;

/// <summary>Converts answers of services to messages, and classifies failures. Thread-safe.</summary>
internal sealed class SoapAnswers(SoapOutboundConfig config, EnvelopeReader envelopes, XmlInput xml, TimeProvider time)
{
    private static readonly TimeSpan LongestWait = TimeSpan.FromHours(24);

    private readonly HeaderRules _rules = new(config.Headers, new HeaderRewrite(config.RewriteAnswerHeaders));

    /// <summary>Converts an answer: the child of Body, or an empty body where the service accepts without an answer.</summary>
    /// <exception cref="EndpointException"><c>ESB-SOAP-FAULT</c>: a fault. <c>ESB-SOAP-TARGET</c>: no envelope.</exception>
    public EsbMessage Read(EsbMessage request, HttpResponseMessage response, MessageBody body)
    {
        var status = (int)response.StatusCode;
        if (body.Length == 0)
            return status is 202 or 204 || (status == 200 && config.OneWay)
                ? Convert(request, response, MessageBody.Empty)
                : throw NoEnvelope(response, status, "nothing");
        var type = response.Content.Headers.NonValidated.TryGetValues("Content-Type", out var types) ? types.ToString() : "";
        if (!IsXml(type))
            // HTML is not even parsed
            throw NoEnvelope(response, status, type.Length == 0 ? "a body without a content type" : SafeText.Of(type, 60));
        var envelope = Parse(response, status, body);
        if (envelope.Child == envelope.Version.Qualify("Fault"))
            throw FaultOf(request, response, status, envelope);
        return status is >= 200 and <= 299
            ? Convert(request, response, MessageBody.FromBytes(envelope.Body)) with
            {
                ContentType = "application/xml",
            }
            : throw NoEnvelope(response, status, "an envelope without a fault");
    }

    private static bool IsXml(string contentType)
    {
        var type = contentType.Split(';')[0].Trim();
        return type.EndsWith("/xml", StringComparison.OrdinalIgnoreCase) || type.EndsWith("+xml", StringComparison.OrdinalIgnoreCase);
    }

    private EsbMessage Convert(EsbMessage request, HttpResponseMessage response, MessageBody body) =>
        HttpAnswers.Read(request, response, body, _rules, time);

    private SoapEnvelope Parse(HttpResponseMessage response, int status, MessageBody body)
    {
        try
        {
            return envelopes.Read(body.Bytes);
        }
        catch (EsbException ex)
        {
            throw NoEnvelope(response, status, "XML that is not an envelope", ex);
        }
    }

    private EndpointException NoEnvelope(HttpResponseMessage response, int status, string instead, EsbException? cause = null) =>
        new(
            config.Name,
            "ESB-SOAP-TARGET",
            $"The endpoint '{config.Name}' was answered with status {status} and {instead}; expected an envelope.",
            IsTransient(status),
            cause
        )
        {
            Detail = cause?.Message,
            RetryAfter = WaitOf(response),
            IsTurnedAway = IsTurnedAway(status),
        };

    private EndpointException FaultOf(EsbMessage request, HttpResponseMessage response, int status, SoapEnvelope envelope)
    {
        var fault = ReceivedFault.Read(envelope, xml);
        var properties = new Dictionary<string, object> { ["soap.fault.code"] = fault.Code, ["soap.fault.reason"] = fault.Reason };
        if (fault.Detail is not null)
            properties["soap.fault.detail"] = fault.Detail;
        return new EndpointException(
            config.Name,
            "ESB-SOAP-FAULT",
            $"The endpoint '{config.Name}' was answered with a fault ({SafeText.Of(fault.Code, 60)}): {fault.Shown}",
            fault.IsOfReceiver
        )
        {
            Answer = Convert(request, response, MessageBody.FromBytes(envelope.Body)),
            CallAnswer = new FailedAnswer(status, fault.Detail),
            Properties = properties,
            RetryAfter = WaitOf(response),
            IsTurnedAway = fault.IsOfReceiver && IsTurnedAway(status),
        };
    }

    // A date is relative to the arrival of the answer.
    private TimeSpan? WaitOf(HttpResponseMessage response)
    {
        if (response.Headers.RetryAfter is not { } wait)
            return null;
        var delay = wait.Delta ?? wait.Date - time.GetUtcNow() ?? TimeSpan.Zero;
        return delay < TimeSpan.Zero ? TimeSpan.Zero
            : delay < LongestWait ? delay
            : LongestWait;
    }

    private static bool IsTransient(int status) => status is 408 or 429 or >= 500;

    private static bool IsTurnedAway(int status) => status is 429 or 502 or 503 or 504;
}
