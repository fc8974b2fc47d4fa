using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Endpoints.Http.Credentials;
using Esb.Endpoints.Http.Outside;
using Esb.Endpoints.Http.Proxies;
using Esb.Endpoints.Http.Receiving;
using Esb.Endpoints.Http.Sending;
using Esb.Endpoints.Http.Servers;
using Esb.Endpoints.Http.Wire;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.Extensions.Primitives;

namespace Esb.Endpoints.Http.Relaying;

/// <summary>Selects and rewrites the headers of a relay. All end-to-end headers are forwarded, unless an endpoint names some; reserved ones
/// never are. Thread-safe.</summary>
internal sealed class RelayHeaders(HttpInboundConfig inbound, HttpOutboundConfig outbound)
{
    private readonly PassingHeaders _requests = new([inbound, outbound], [new(inbound.RewriteHeaders), new(outbound.RewriteHeaders)]);
    private readonly PassingHeaders _answers = new(
        [inbound, outbound],
        [new(outbound.RewriteAnswerHeaders), new(inbound.RewriteAnswerHeaders)]
    );
    private readonly ForwardedFields? _forwarded = inbound.Forwarded ? new ForwardedFields() : null;

    /// <summary>True if the caller accepts trailers after an answer (RFC 9110, section 6.5.1).</summary>
    public bool TakesTrailers(HttpRequest request) =>
        request.Headers.TE.Count > 0 && HttpFields.HasOption(request.Headers.TE.ToString(), "trailers");

    /// <summary>Writes the head of the request to the external system.</summary>
    /// <param name="head">Receives the head.</param>
    /// <param name="context">The caller's request.</param>
    /// <param name="target">The external system.</param>
    /// <param name="server">The server of the external system that gets the request.</param>
    /// <param name="credential">The value of the credential; null if it has none.</param>
    /// <param name="hasBody">True if a body follows.</param>
    /// <exception cref="EsbException">The caller's request has invalid content.</exception>
    public void WriteHead(TextBuffer head, HttpContext context, HttpTarget target, HttpServer server, string? credential, bool hasBody)
    {
        var request = context.Request;
        head.Clear();
        server.WriteRequestLine(head, request.Method, request.QueryString);
        WritePassing(head, request.Headers, target.Credential?.Header, context.Features.Get<ForwardedRequest>() is not null);
        if (credential is not null)
            head.WriteField(target.Credential!.Header, credential);
        WriteConnection(head, request);
        if (hasBody && request.ContentLength is null)
        {
            head.Write("Transfer-Encoding: chunked\r\n"u8);
            if (request.Headers.Trailer.Count > 0)
                WriteFields(head, "Trailer", request.Headers.Trailer);
        }
        else if (request.ContentLength is { } length)
        {
            head.Write("Content-Length: "u8);
            head.Write(length);
            head.Write("\r\n"u8);
        }

        if (hasBody && request.Headers.Expect.Count > 0)
            WriteFields(head, "Expect", request.Headers.Expect);
        _forwarded?.Write(head, context);
        TraceFields.Write(head, request.Headers);
        head.Write("\r\n"u8);
    }

    /// <summary>Ends a chunked request, with the caller's trailers: none that a target would believe as a header of its gateway.</summary>
    public void WriteEnd(TextBuffer request, IHttpRequestTrailersFeature? caller, TargetCredential? credential)
    {
        request.Write("0\r\n"u8);
        if (caller is { Available: true })
        {
            foreach (var (name, values) in caller.Trailers)
            {
                if (!HeaderRules.IsToken(name))
                    // unchecked by the server over HTTP/2
                    throw HttpProblems.Of(StatusCodes.Status400BadRequest, "ESB-HTTP-REQUEST", "A trailer has an invalid name.");
                if (!TrailerFields.MayPass(name) || ForwardedFields.Replaces(name) || HeaderRules.IsTrusted(name))
                    continue;
                if (_requests.NameOf(name, default) is { } passed && !HeaderRules.IsTrusted(passed) && !Is(passed, credential?.Header))
                    WriteFields(request, passed, values);
            }
        }

        request.Write("\r\n"u8);
    }

    /// <summary>Copies the headers of the external system's answer.</summary>
    public void CopyTo(HttpResponse answer, AnswerHead head)
    {
        var passed = answer.Headers;
        foreach (ref readonly var field in head.Fields.All)
        {
            if (IsShort(field.Name) && _answers.NameOf(field.Name, head.Connection) is { } name)
                passed.Append(name, field.Value);
        }

        foreach (var (name, value) in _answers.Set)
            passed[name] = value;
    }

    /// <summary>Returns the name under which a trailer of an answer is forwarded; null if it is not.</summary>
    public string? NameOfAnswerTrailer(string name) => IsShort(name) && TrailerFields.MayPass(name) ? _answers.NameOf(name, default) : null;

    private void WritePassing(TextBuffer head, IHeaderDictionary headers, string? credential, bool isFromProxy)
    {
        var replaces = _forwarded is not null || !isFromProxy;
        var connection = headers.Connection;
        foreach (var (name, values) in headers)
        {
            if (replaces && ForwardedFields.Replaces(name))
                continue;
            if (_requests.NameOf(name, connection) is { } passed && !Is(passed, credential))
                WriteFields(head, passed, values);
        }

        foreach (var (name, value) in _requests.Set)
        {
            if (!Is(name, credential))
                head.WriteField(name, value);
        }
    }

    private static bool IsShort(string name) => name.Length <= HeaderRules.MaxNameLength;

    private static bool Is(string name, string? other) => name.Equals(other, StringComparison.OrdinalIgnoreCase);

    private void WriteConnection(TextBuffer head, HttpRequest request)
    {
        var trailers = TakesTrailers(request);
        if (trailers)
            head.Write("TE: trailers\r\n"u8);
        if (outbound.KeepAlive && trailers)
            head.Write("Connection: TE\r\n"u8);
        else if (!outbound.KeepAlive)
            head.Write(trailers ? "Connection: close, TE\r\n"u8 : "Connection: close\r\n"u8);
    }

    private static void WriteFields(TextBuffer head, string name, StringValues values)
    {
        foreach (var value in values)
        {
            if (value is null)
                continue;
            if (!HeaderRules.IsValue(value))
                throw HttpProblems.Of(StatusCodes.Status400BadRequest, "ESB-HDR-VALUE", "The value of a header has control characters.");
            head.WriteField(name, value);
        }
    }
}
