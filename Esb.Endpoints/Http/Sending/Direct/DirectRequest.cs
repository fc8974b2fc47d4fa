using System.Diagnostics;
using System.Globalization;
using System.Runtime.CompilerServices;
using Esb.Core.Messages;
using Esb.Endpoints.Http.Credentials;
using Esb.Endpoints.Http.Idempotency;
using Esb.Endpoints.Http.Outside;
using Esb.Endpoints.Http.Servers;
using Esb.Endpoints.Http.Wire;

namespace Esb.Endpoints.Http.Sending.Direct;

/// <summary>The request for a message, as bytes of HTTP/1.1.</summary>
/// <param name="Message">The message, with a buffered body.</param>
/// <param name="Method">The method.</param>
/// <param name="Url">The address; of the server that gets the request only path and query count.</param>
/// <param name="IsOwnUrl">True if path and query are those of the endpoint.</param>
/// <param name="Headers">The headers of the message that are sent.</param>
/// <param name="Via">The way of the message; null if it is not told.</param>
/// <param name="FencingToken">The fencing token; null if there is none.</param>
internal sealed record DirectRequest(
    EsbMessage Message,
    string Method,
    Uri Url,
    bool IsOwnUrl,
    IReadOnlyList<KeyValuePair<string, string>> Headers,
    string? Via,
    long? FencingToken
)
{
    // What is behind the head in the same packet; a larger body is sent from where it lies.
    private const int GatheredBytes = 16 * 1024;

    private static readonly DistributedContextPropagator.PropagatorSetterCallback Setter = static (head, name, value) =>
        ((TextBuffer)head!).WriteField(name, value);

    public bool HasBody { get; } = HttpMethodNames.HasBody(Method) || (Message.Body.Length != 0 && HttpMethodNames.MayHaveBody(Method));

    /// <summary>True if it may be carried out twice.</summary>
    public bool IsRepeatable =>
        FailOverHandler.IsRepeatable(Method) || IsNamed(IdempotencyHeader.Name) || HttpMethodNames.HasEffect(Method);

    /// <summary>True if a request on a lost connection may be sent again: it has no body, and is idempotent (RFC 9110, section
    /// 9.2.2).</summary>
    public bool MaySendAgain => !HasBody && FailOverHandler.IsRepeatable(Method);

    /// <summary>True if a request can be written for these headers of a call: none that frames it, or that the platform's client treats in
    /// its own way.</summary>
    public static bool CanWrite(CallRequest? call)
    {
        if (call is null)
            return true;
        foreach (var (name, value) in call.Headers)
        {
            if (
                !HeaderRules.IsName(name)
                || !HeaderRules.IsValue(value)
                || HttpFields.EndsHere(name, default)
                || HttpFields.IsOfContent(name)
                || IsOfBody(name)
            )
                return false;
        }

        return true;
    }

    /// <exception cref="OutsideException">The connection was lost.</exception>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    public async ValueTask SendAsync(
        OutsideConnection connection,
        HttpServer server,
        bool keepsAlive,
        TargetCredential? credential,
        string? value
    )
    {
        WriteHead(connection.Request, server, keepsAlive, credential?.Header, value);
        var body = HasBody ? Message.Body.Bytes : default;
        if (body.Length is > 0 and <= GatheredBytes)
            connection.Request.Write(body.Span);
        await connection.WriteAsync(connection.Request.Written);
        if (body.Length > GatheredBytes)
            await connection.WriteAsync(body);
        connection.Request.Clear();
    }

    private void WriteHead(TextBuffer head, HttpServer server, bool keepsAlive, string? credential, string? value)
    {
        head.Clear();
        server.WriteRequestLineTo(head, Method, IsOwnUrl ? null : Url);
        for (var i = 0; i < Headers.Count; i++) // without an enumerator
        {
            var (name, text) = Headers[i];
            if (!Is(name, credential) && !IsOfCall(name) && (HasBody || !IsOfBody(name)))
                head.WriteField(name, text);
        }

        foreach (var (name, text) in Message.Request?.Headers ?? [])
        {
            if (!Is(name, credential))
                head.WriteField(name, text);
        }

        if (Via is not null && !Is(ViaField.Name, credential))
            head.WriteField(ViaField.Name, Via);

        // Equal for every attempt, so that the external system can tell a redelivery from another message.
        if (HttpMethodNames.HasEffect(Method) && !IsNamed(IdempotencyHeader.Name) && !Is(IdempotencyHeader.Name, credential))
        {
            head.Write("Idempotency-Key: "u8);
            head.Write(Message.Id);
            head.Write("\r\n"u8);
        }

        if (FencingToken is { } token)
            head.WriteField(HttpOutboundEndpoint.FencingHeader, token.ToString(CultureInfo.InvariantCulture));
        if (value is not null)
            head.WriteField(credential!, value);
        if (Activity.Current is { } activity)
            DistributedContextPropagator.Current.Inject(activity, head, Setter);
        head.Write("Accept-Encoding: gzip, deflate, br\r\n"u8);
        if (!keepsAlive)
            head.Write("Connection: close\r\n"u8);
        if (HasBody)
        {
            if (Message.ContentType is { } type)
                head.WriteField("Content-Type", type);
            head.Write("Content-Length: "u8);
            head.Write(Message.Body.Bytes.Length);
            head.Write("\r\n"u8);
        }

        head.Write("\r\n"u8);
    }

    private bool IsNamed(string name)
    {
        for (var i = 0; i < Headers.Count; i++)
        {
            if (Is(Headers[i].Key, name))
                return true;
        }

        return IsOfCall(name);
    }

    private bool IsOfCall(string name)
    {
        if (Message.Request is not { Headers: { Count: > 0 } headers })
            return false;
        foreach (var header in headers)
        {
            if (Is(header.Key, name))
                return true;
        }

        return false;
    }

    // Fields about a body (RFC 9110, section 8), which a request without one does not have.
    private static bool IsOfBody(string name) =>
        name.StartsWith("Content-", StringComparison.OrdinalIgnoreCase)
        || Is(name, "Allow")
        || Is(name, "Expires")
        || Is(name, "Last-Modified");

    private static bool Is(string name, string? other) => name.Equals(other, StringComparison.OrdinalIgnoreCase);
}
