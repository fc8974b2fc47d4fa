using System.Globalization;
using System.IO.Compression;
using System.Net.Http.Headers;
using System.Runtime.CompilerServices;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Endpoints.Http.Outside;
using Esb.Endpoints.Http.Wire;
using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http.Sending.Direct;

/// <summary>Reads an answer to its end, and makes a message of it.</summary>
internal static class DirectAnswer
{
    /// <summary>Reads the head of the final answer; interim ones are passed over.</summary>
    /// <exception cref="OutsideException">The connection was lost, or the answer is not HTTP.</exception>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    public static async ValueTask ReadHeadAsync(OutsideConnection connection)
    {
        do
        {
            while (true)
            {
                var read = connection.Received.IsEmpty ? 0 : connection.Head.Read(connection.Received.Span);
                connection.Consume(read);
                if (read > 0)
                    break;
                if (!await connection.FillAsync())
                    throw OutsideException.HungUp();
            }

            if (connection.Head.Status == StatusCodes.Status101SwitchingProtocols)
                throw new BadAnswerException("it changes the protocol, unasked");
        } while (connection.Head.IsInterim);
    }

    /// <summary>Reads the body.</summary>
    /// <exception cref="OutsideException">The connection was lost.</exception>
    /// <exception cref="EsbException"><c>ESB-BODY-SIZE</c>: the body is larger.</exception>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    public static async ValueTask<ReadOnlyMemory<byte>> ReadBodyAsync(OutsideConnection connection, string method, long maxBytes)
    {
        var head = connection.Head;
        var body = connection.Body;
        body.Begin(
            head,
            isAllowed: !HttpMethods.IsHead(method)
                && head.Status is not (StatusCodes.Status204NoContent or StatusCodes.Status304NotModified)
        );
        if (body.IsComplete)
            return default;
        if (head.ContentLength > maxBytes)
            throw TooLarge(maxBytes);

        using var buffer = new BodyBuffer(head.ContentLength);
        while (await body.ReadAsync() is { IsEmpty: false } piece)
        {
            if (buffer.Count + (long)piece.Length > maxBytes)
                throw TooLarge(maxBytes);
            buffer.Add(piece.Span);
        }

        return buffer.Complete();
    }

    /// <summary>The codings of the body, but for those that change nothing; null if it is as it was.</summary>
    public static string? CodingOf(AnswerHead head)
    {
        string? codings = null;
        foreach (ref readonly var field in head.Fields.All)
        {
            if (Is(field.Name, "Content-Encoding") && !Is(field.Value.Trim(), "identity"))
                codings = codings is null ? field.Value.Trim() : $"{codings}, {field.Value}";
        }

        return codings;
    }

    /// <summary>Opens a packed body; null if the coding is unknown.</summary>
    public static Stream? TryUnpack(string coding, ReadOnlyMemory<byte> bytes)
    {
        if (!Is(coding, "gzip") && !Is(coding, "deflate") && !Is(coding, "br"))
            return null;
        var packed = new MemoryStream(bytes.ToArray(), writable: false);
        return Is(coding, "gzip") ? new GZipStream(packed, CompressionMode.Decompress)
            : Is(coding, "br") ? new BrotliStream(packed, CompressionMode.Decompress)
            : new ZLibStream(packed, CompressionMode.Decompress);
    }

    /// <summary>Makes a message of the answer, with its status in the header <see cref="EsbHeaders.Status"/>.</summary>
    public static EsbMessage Read(EsbMessage request, AnswerHead head, MessageBody body, HeaderRules rules, TimeProvider time)
    {
        string? type = null,
            wait = null;
        List<KeyValuePair<string, string>>? admitted = null;
        foreach (ref readonly var field in head.Fields.All)
        {
            if (Is(field.Name, "Content-Type"))
                type ??= field.Value;
            else if (Is(field.Name, HttpAnswers.RetryAfter))
                wait ??= field.Value;
            if (HttpFields.EndsHere(field.Name, head.Connection) || HttpFields.IsOfContent(field.Name) || !rules.Allows(field.Name))
                continue;
            if (HeaderRules.IsValue(field.Value))
                (admitted ??= []).Add(new(field.Name, field.Value));
        }

        var headers = rules
            .Rewrite.Apply(admitted is null ? MessageHeaders.Empty : MessageHeaders.From(admitted))
            .With(EsbHeaders.Status, head.Status.ToString(CultureInfo.InvariantCulture));
        if (wait is not null && RetryConditionHeaderValue.TryParse(wait, out var parsed))
            headers = headers.With(HttpAnswers.RetryAfter, parsed.ToString()); // the delivery honours it
        return request.Reply(body, time, headers, contentType: type is not null && HeaderRules.IsValue(type) ? type : null);
    }

    private static bool Is(string name, string other) => name.Equals(other, StringComparison.OrdinalIgnoreCase);

    private static EsbException TooLarge(long maxBytes) =>
        new("ESB-BODY-SIZE", $"The body is larger than {maxBytes} bytes.", FaultKind.TooLarge);
}
