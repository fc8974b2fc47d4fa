using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Endpoints.Http.Outside;
using Esb.Endpoints.Http.Proxies;
using Esb.Endpoints.Http.Receiving;
using Esb.Endpoints.Http.Wire;
using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http.Relaying;

/// <summary>Writes the fields that report the caller and the route of a request: <c>Via</c> (RFC 9110, section 7.6.3),
/// <c>X-Forwarded-For</c>, <c>-Proto</c> and <c>-Host</c>. Thread-safe.</summary>
/// <remarks>Values from the request are forwarded only if they come from a trusted proxy; <c>Forwarded</c> (RFC 7239), which is not checked
/// here, never is.</remarks>
internal sealed class ForwardedFields
{
    public static bool Replaces(string name) =>
        name.Length is 3 or 9 or >= 15
        && (
            Is(name, ViaField.Name)
            || Is(name, "Forwarded")
            || Is(name, TrustedProxies.For)
            || Is(name, TrustedProxies.Proto)
            || Is(name, TrustedProxies.Host)
        );

    /// <exception cref="EsbException"><c>ESB-HTTP-LOOP</c>: the request has passed so many buses that it must be in a loop.</exception>
    public void Write(TextBuffer head, HttpContext context)
    {
        WriteVia(head, context.Request);
        var proxy = context.Features.Get<ForwardedRequest>();
        head.Write("X-Forwarded-For: "u8);
        if (proxy?.For is { } before)
        {
            head.Write(before);
            head.Write(", "u8);
        }

        var peer = proxy?.Peer ?? context.Connection.RemoteIpAddress;
        if (peer is not null)
            head.Write(peer.IsIPv4MappedToIPv6 ? peer.MapToIPv4() : peer);
        head.Write("\r\nX-Forwarded-Proto: "u8);
        head.Write(context.Request.Scheme);
        head.Write("\r\n"u8);
        var host = proxy?.Host ?? context.Request.Headers.Host.ToString();
        if (host.Length > 0)
            head.WriteField(TrustedProxies.Host, host);
    }

    private static void WriteVia(TextBuffer head, HttpRequest request)
    {
        head.Write("Via: "u8);
        foreach (var line in request.Headers.Via)
        {
            head.Write(line ?? "");
            head.Write(", "u8);
        }

        if (ViaField.HopsOf(request.Headers.Via) > MessageHops.Most)
            throw HttpProblems.Of(
                StatusCodes.Status508LoopDetected,
                "ESB-HTTP-LOOP",
                $"The request has come by a bus more than {MessageHops.Most} times."
            );
        head.Write(request.Protocol.AsSpan("HTTP/".Length));
        head.Write(" "u8);
        head.Write(ViaField.Pseudonym);
        head.Write("\r\n"u8);
    }

    private static bool Is(string text, string name) => text.Equals(name, StringComparison.OrdinalIgnoreCase);
}
