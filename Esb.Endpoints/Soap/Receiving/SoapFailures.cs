using System.Xml;
using Esb.Content.Xml;
using Esb.Core.Errors;
using Esb.Endpoints.Http.Receiving;
using Esb.Endpoints.Http.Refusals;
using Esb.Endpoints.Soap.Envelopes;
using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Soap.Receiving;

/// <summary>Failures as faults, in the caller's version. Thread-safe.</summary>
/// <remarks>
/// The HTTP status is 500 for SOAP 1.1 (section 6.2), and 400 for Sender or 500 for Receiver in SOAP 1.2 (part 2, section 7.5.2.2). What
/// ends before the envelope is read, and what may be tried again, keeps its own status: callers and proxies act by it.
/// </remarks>
internal sealed class SoapFailures : IFailureAnswers
{
    public static readonly SoapFailures Instance = new();

    private const string Namespace = "urn:esb";

    private static readonly XmlInput Xml = new(new XmlLimits());

    public FailureAnswer Describe(HttpContext context, EsbException failure, int status, string traceId)
    {
        if (!HttpMethods.IsPost(context.Request.Method))
            return HttpProblems.Instance.Describe(context, failure, status, traceId);
        var call = context.Features.Get<SoapCall>();
        var code =
            failure is SoapFaultException { FaultCode: var named } ? named
            : status < 500 ? SoapFaultCode.Sender
            : SoapFaultCode.Receiver;
        var version = code == SoapFaultCode.VersionMismatch ? SoapVersion.V11 : call?.Version ?? VersionOf(context.Request);
        var isAboutBody = code is SoapFaultCode.Sender or SoapFaultCode.Receiver;
        var fault = new SoapFault(
            code,
            failure.Message,
            isAboutBody ? writer => WriteDetail(writer, failure, traceId) : null,
            (failure as SoapFaultException)?.NotUnderstood
        );
        return new FailureAnswer(StatusOf(call, version, code, failure, status), version.ContentType, FaultWriter.Write(version, fault));
    }

    private static SoapVersion VersionOf(HttpRequest request) =>
        request.ContentType?.StartsWith(SoapVersion.V12.MediaType, StringComparison.OrdinalIgnoreCase) == true
            ? SoapVersion.V12
            : SoapVersion.V11;

    private static int StatusOf(SoapCall? call, SoapVersion version, SoapFaultCode code, EsbException failure, int status)
    {
        if (code is SoapFaultCode.VersionMismatch or SoapFaultCode.MustUnderstand)
            return StatusCodes.Status500InternalServerError;
        if (call is null || status is StatusCodes.Status503ServiceUnavailable || failure.RetryAfter is not null)
            return status;
        return version == SoapVersion.V12 && code == SoapFaultCode.Sender
            ? StatusCodes.Status400BadRequest
            : StatusCodes.Status500InternalServerError;
    }

    private static void WriteDetail(XmlWriter writer, EsbException failure, string traceId)
    {
        if (failure.CallerDetail is { Length: > 0 } detail)
        {
            WriteOwn(writer, detail);
            return;
        }

        writer.WriteStartElement("problem", Namespace);
        writer.WriteElementString("code", Namespace, failure.Code);
        writer.WriteElementString("traceId", Namespace, traceId);
        writer.WriteEndElement();
    }

    private static void WriteOwn(XmlWriter writer, string detail)
    {
        if (ElementOf(detail) is not { } element)
        {
            writer.WriteElementString("detail", Namespace, Core.Messages.SafeText.Of(detail, 4000));
            return;
        }

        using var reader = Xml.Read(element);
        reader.MoveToContent();
        writer.WriteNode(reader, defattr: true);
    }

    private static ReadOnlyMemory<byte>? ElementOf(string detail)
    {
        if (!detail.AsSpan().TrimStart().StartsWith('<'))
            return null;
        try
        {
            return Xml.RootOf(System.Text.Encoding.UTF8.GetBytes(detail), out _);
        }
        catch (EsbException)
        {
            return null; // a text that begins like an element
        }
    }
}
