using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Endpoints.Http.Receiving;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;

namespace Esb.Endpoints.Http.Wire;

/// <summary>Checks of a body before any of it is read.</summary>
internal static class HttpContentRules
{
    /// <summary>The code of a body that its caller did not send completely.</summary>
    public const string Aborted = "ESB-HTTP-ABORTED";

    /// <summary>Refuses a body with two lengths, about which two hops may disagree (RFC 9112, section 6.3), and one in an unsupported
    /// transfer coding (section 6.1).</summary>
    public static void RequireOneLength(HttpRequest request)
    {
        if (
            request.Headers.TransferEncoding is { Count: > 0 } codings
            && !(codings.Count == 1 && codings[0]!.Trim().Equals("chunked", StringComparison.OrdinalIgnoreCase))
        )
            throw new EsbException("ESB-HTTP-ENCODING", "The body has a transfer encoding other than chunked.", FaultKind.Malformed)
            {
                Status = StatusCodes.Status501NotImplemented,
            };
        // The server has already chosen the chunked length, and moved the other one into this field.
        if (request.Headers.TransferEncoding.Count == 0 || !request.Headers.ContainsKey("X-Content-Length"))
            return;
        throw HttpProblems.Of(StatusCodes.Status400BadRequest, "ESB-HTTP-LENGTH", "The body has both a length and a transfer encoding.");
    }

    /// <summary>Refuses content types and sizes that are not accepted, and ends reading at the limit.</summary>
    /// <param name="context">The request.</param>
    /// <param name="accepted">The accepted content types.</param>
    /// <param name="maxBodyBytes">The limit; null for none.</param>
    public static void Require(HttpContext context, AcceptedTypes accepted, long? maxBodyBytes)
    {
        var request = context.Request;
        if (request.Headers.ContentType.Count > 1)
            throw Duplicate("Content-Type");
        if (request.ContentType is { } type && !HeaderRules.IsValue(type))
            throw HttpProblems.Of(StatusCodes.Status400BadRequest, "ESB-HDR-VALUE", "The content type has control characters.");
        if (HasBody(context) && !accepted.Take(request.ContentType))
        {
            context.Response.Headers.Accept = accepted.ToString();
            throw HttpProblems.Of(
                StatusCodes.Status415UnsupportedMediaType,
                "ESB-HTTP-CONTENTTYPE",
                $"The content type is not one of {accepted}."
            );
        }

        if (request.ContentLength > maxBodyBytes)
            throw TooLarge(maxBodyBytes, null);
        if (context.Features.Get<IHttpMaxRequestBodySizeFeature>() is { IsReadOnly: false } limit)
            limit.MaxRequestBodySize = maxBodyBytes;
    }

    /// <summary>True if the body is packed by gzip; refuses other encodings.</summary>
    public static bool IsPacked(HttpContext context)
    {
        var encoding = context.Request.Headers.ContentEncoding.ToString();
        if (encoding.Length == 0 || Is(encoding, "identity"))
            return false;
        if (Is(encoding, "gzip") || Is(encoding, "x-gzip"))
            return true;
        context.Response.Headers.AcceptEncoding = "gzip"; // RFC 9110, section 15.5.16
        throw HttpProblems.Of(
            StatusCodes.Status415UnsupportedMediaType,
            "ESB-HTTP-ENCODING",
            "Bodies are taken without a content encoding, or with gzip, and no other."
        );

        static bool Is(string text, string name) => text.Equals(name, StringComparison.OrdinalIgnoreCase);
    }

    /// <summary>The failure of a body that came too slowly.</summary>
    public static EsbException Slow(Exception fault) =>
        HttpProblems.Of(StatusCodes.Status408RequestTimeout, "ESB-HTTP-SLOW", "The body came too slowly.", fault);

    /// <summary>The refusal of a packed body where bodies are taken as they come.</summary>
    public static EsbException Packed(HttpContext context)
    {
        context.Response.Headers.AcceptEncoding = "identity"; // RFC 9110, section 15.5.16
        return HttpProblems.Of(
            StatusCodes.Status415UnsupportedMediaType,
            "ESB-HTTP-ENCODING",
            "Bodies are taken without a content encoding only."
        );
    }

    /// <summary>Maps the failure to read a body; aborts the connection if the caller has disconnected.</summary>
    public static EsbException Explain(Exception fault, HttpContext context)
    {
        switch (fault)
        {
            case BadHttpRequestException { StatusCode: StatusCodes.Status413PayloadTooLarge }:
                return TooLarge(context.Features.Get<IHttpMaxRequestBodySizeFeature>()?.MaxRequestBodySize, fault);
            case BadHttpRequestException { StatusCode: StatusCodes.Status408RequestTimeout }:
                return Slow(fault);
            case { InnerException: OverflowException }: // an overflowing chunk size
            case BadHttpRequestException when !IsIncomplete(fault, context.Request):
                return HttpProblems.Of(StatusCodes.Status400BadRequest, "ESB-HTTP-BODY", "The body is not sent as HTTP asks.", fault);
            case BadHttpRequestException:
                return HttpProblems.Of(StatusCodes.Status400BadRequest, Aborted, "The body ended before it was complete.", fault);
            case OperationCanceledException:
                return HungUp(fault);
            default:
                context.Abort(); // otherwise the server would read on and report a failure
                return HungUp(fault);
        }
    }

    /// <summary>The caller has disconnected within its body.</summary>
    public static EsbException HungUp(Exception cause) =>
        HttpProblems.Of(StatusCodes.Status400BadRequest, Aborted, "The caller hung up before the body was complete.", cause);

    // A body with a length can have no other fault; for chunks, only the server's message tells an early end from a broken chunk.
    private static bool IsIncomplete(Exception fault, HttpRequest request) =>
        request.ContentLength is not null || fault.Message.StartsWith("Unexpected end of request content", StringComparison.Ordinal);

    public static EsbException Duplicate(string name) =>
        HttpProblems.Of(StatusCodes.Status400BadRequest, "ESB-HDR-DUP", $"{name} is given more than once.");

    private static bool HasBody(HttpContext context) =>
        context.Request.ContentLength != 0 && context.Features.Get<IHttpRequestBodyDetectionFeature>()?.CanHaveBody != false;

    private static EsbException TooLarge(long? maxBodyBytes, Exception? cause) =>
        HttpProblems.Of(StatusCodes.Status413PayloadTooLarge, "ESB-BODY-SIZE", $"The body is larger than {maxBodyBytes} bytes.", cause);
}
