using System.Buffers;
using System.Globalization;
using System.IO.Pipelines;
using System.Runtime.CompilerServices;
using Esb.Endpoints.Http.Outside;
using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http.Relaying;

/// <summary>Forwards an answer to the caller, streaming its body.</summary>
internal sealed class RelayAnswer(HttpContext context, OutsideConnection connection, RelayHeaders headers, IRelayWitness? witness)
{
    private readonly AnswerHead _head = connection.Head;
    private readonly AnswerBody _body = connection.Body;
    private bool _isWitnessed = witness is null;

    private bool IsHttp1 => context.Request.Protocol.StartsWith("HTTP/1", StringComparison.Ordinal);

    /// <param name="isRequestSent">True if the caller's request was read to its end; otherwise the rest would follow on the connection,
    /// which cannot be reused.</param>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    public async ValueTask PassAsync(bool isRequestSent)
    {
        var answer = context.Response;
        answer.StatusCode = _head.Status;
        headers.CopyTo(answer, _head);
        var hasBody = HasBody(answer.StatusCode);
        if (hasBody || answer.StatusCode == StatusCodes.Status304NotModified || HttpMethods.IsHead(context.Request.Method))
            answer.ContentLength = _head.ContentLength;
        if (!isRequestSent && IsHttp1)
            answer.Headers.Connection = "close";

        _body.Begin(_head, HasFraming(answer.StatusCode));
        var trailers = _head.IsChunked && hasBody && headers.TakesTrailers(context.Request);
        if (trailers && context.Request.Protocol == "HTTP/1.1")
            await PassChunksAsync(answer);
        else if (hasBody)
            await PassAsync(answer, trailers);
        if (!_isWitnessed)
            await WitnessAsync();
    }

    private ValueTask WitnessAsync()
    {
        _isWitnessed = true;
        return witness!.EndingAsync(_head.Status);
    }

    // No body to HEAD (RFC 9110, section 9.3.2), nor with these statuses (sections 15.3.5, 15.3.6 and 15.4.5).
    private bool HasBody(int status) => HasFraming(status) && status != StatusCodes.Status205ResetContent;

    // True if the head gives the length of the following bytes (RFC 9112, section 6.3). A 205 may have no body, but if one follows, the
    // connection cannot be reused.
    private bool HasFraming(int status) =>
        !HttpMethods.IsHead(context.Request.Method) && status is not (StatusCodes.Status204NoContent or StatusCodes.Status304NotModified);

    // A pending body must not delay its head: an event stream may begin with silence.
    private async ValueTask FlushHeadAsync(HttpResponse answer)
    {
        if (!_body.IsComplete && connection.Received.IsEmpty)
            await answer.BodyWriter.FlushAsync(CancellationToken.None);
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    private async ValueTask PassAsync(HttpResponse answer, bool trailers)
    {
        await FlushHeadAsync(answer);
        while (await ReadAsync() is { IsEmpty: false } piece)
        {
            if (!_isWitnessed && _body.IsComplete)
                await WitnessAsync(); // the caller may have all of it with this piece
            await answer.BodyWriter.WriteAsync(piece, CancellationToken.None);
        }

        if (!trailers || !answer.SupportsTrailers())
            return;
        foreach (var (name, value) in _body.Trailers.All)
        {
            if (headers.NameOfAnswerTrailer(name) is { } passed)
                answer.AppendTrailer(passed, value);
        }
    }

    // The server sends no trailers in HTTP/1.1, but leaves the chunks to code that sets the transfer encoding.
    private async ValueTask PassChunksAsync(HttpResponse answer)
    {
        answer.Headers.TransferEncoding = "chunked";
        if (FindTrailer() is { } announced)
            answer.Headers.Trailer = announced;
        await FlushHeadAsync(answer);
        var writer = answer.BodyWriter;
        while (await ReadAsync() is { IsEmpty: false } piece)
        {
            WriteSize(writer, piece.Length);
            writer.Write(piece.Span);
            writer.Write("\r\n"u8);
            await writer.FlushAsync(CancellationToken.None);
        }

        if (!_isWitnessed)
            await WitnessAsync();
        WriteEnd(writer);
        await writer.FlushAsync(CancellationToken.None);
    }

    private void WriteEnd(PipeWriter writer)
    {
        var end = new TextBuffer();
        end.Write("0\r\n"u8);
        foreach (var (name, value) in _body.Trailers.All)
        {
            if (headers.NameOfAnswerTrailer(name) is { } passed)
                end.WriteField(passed, value);
        }

        end.Write("\r\n"u8);
        writer.Write(end.Written.Span);
        end.Release();
    }

    private string? FindTrailer()
    {
        foreach (var (name, value) in _head.Fields.All)
        {
            if (name.Equals("Trailer", StringComparison.OrdinalIgnoreCase))
                return value;
        }

        return null;
    }

    private static void WriteSize(PipeWriter writer, int size)
    {
        var span = writer.GetSpan(10);
        size.TryFormat(span, out var written, "x", CultureInfo.InvariantCulture);
        "\r\n"u8.CopyTo(span[written..]);
        writer.Advance(written + 2);
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<ReadOnlyMemory<byte>> ReadAsync()
    {
        connection.Silence.Restart();
        var piece = await _body.ReadAsync();
        connection.Silence.Pause();
        return piece;
    }
}
