using System.Buffers;
using System.IO.Pipelines;
using System.Runtime.CompilerServices;
using Esb.Core.Errors;
using Esb.Endpoints.Http.Credentials;
using Esb.Endpoints.Http.Outside;
using Esb.Endpoints.Http.Wire;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;

namespace Esb.Endpoints.Http.Relaying;

/// <summary>Sends a request, streaming its body from the caller.</summary>
internal sealed class RelayUpload(HttpContext context, OutsideConnection connection, RelayHeaders headers, TargetCredential? credential)
{
    // Pieces that arrive together share a packet; larger pieces are sent as they are.
    private const int GatheredBytes = 64 * 1024;

    private readonly bool _isChunked = context.Request.ContentLength is null;
    private EsbException? _fault;
    private volatile bool _hasReadAll;
    private volatile bool _isDiscarded;
    private volatile bool _isStopped;

    /// <summary>True if the whole request was read from the caller; false if the external system did not want it.</summary>
    public bool HasReadAll => _hasReadAll;

    /// <summary>True if the whole request was sent.</summary>
    public bool IsComplete { get; private set; }

    /// <summary>Throws the failure caused by the caller, if any.</summary>
    public void ThrowIfFailed()
    {
        if (_fault is not null)
            throw _fault;
    }

    /// <summary>Reads the rest of the request and discards it.</summary>
    public void Discard() => _isDiscarded = true;

    /// <summary>Stops sending at once and aborts the connection.</summary>
    public async ValueTask StopAsync(Task sending)
    {
        if (sending.IsCompleted)
            return;
        _isStopped = true;
        connection.Abort();
        context.Request.BodyReader.CancelPendingRead();
        await sending;
    }

    public ValueTask SendHeadAsync()
    {
        connection.Silence.Restart();
        return FlushAsync();
    }

    /// <summary>Sends the rest of the head, and the body. Does not throw: a failure of the caller aborts the connection; an external system
    /// that stops reading may have answered why.</summary>
    public async Task SendAsync(bool hasBody)
    {
        try
        {
            if (hasBody)
                await CopyAsync(context.Request.BodyReader);
            else
                await SendHeadAsync();
            (_hasReadAll, IsComplete) = (true, !_isDiscarded && !_isStopped);
        }
        catch (EsbException ex)
        {
            _fault = ex;
            connection.Abort();
        }
        catch (OutsideException)
        {
            connection.Silence.Restart(); // waits for the answer, or the end
        }
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    private async ValueTask CopyAsync(PipeReader caller)
    {
        while (!_isStopped)
        {
            var result = await ReadAsync(caller);
            try
            {
                if (result.IsCanceled)
                    continue;
                _hasReadAll = result.IsCompleted;
                if (!_isDiscarded)
                    await PassAsync(result.Buffer, result.IsCompleted);
                if (result.IsCompleted)
                    return;
            }
            finally
            {
                // also if the external system is gone: after an incomplete read the server cannot drain the body, and resets the connection
                caller.AdvanceTo(result.Buffer.End);
            }
        }
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<ReadResult> ReadAsync(PipeReader caller)
    {
        try
        {
            return caller.TryRead(out var result) ? result : await WaitAsync(caller);
        }
        catch (Exception ex) when (ex is OperationCanceledException or (IOException and not OutsideException))
        {
            throw HttpContentRules.Explain(ex, context);
        }
    }

    // Flushes gathered bytes before it waits. No token: a cancelled read leaves the server's body reader unusable; the server itself ends
    // the reads of callers that disconnect or are too slow.
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<ReadResult> WaitAsync(PipeReader caller)
    {
        if (!_isDiscarded)
            await FlushAsync();
        connection.Silence.Pause();
        var result = await caller.ReadAsync(CancellationToken.None);
        if (!_isDiscarded)
            connection.Silence.Restart();
        return result;
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    private async ValueTask PassAsync(ReadOnlySequence<byte> body, bool isLast)
    {
        var gathered = connection.Request;
        if (_isChunked && !body.IsEmpty)
        {
            gathered.Write(body.Length, "x");
            gathered.Write("\r\n"u8);
        }

        foreach (var piece in body)
        {
            if (gathered.Written.Length + piece.Length > GatheredBytes)
                await FlushAsync();
            if (piece.Length > GatheredBytes)
                await WriteAsync(piece);
            else
                gathered.Write(piece.Span);
        }

        if (_isChunked && !body.IsEmpty)
            gathered.Write("\r\n"u8);
        if (_isChunked && isLast)
            headers.WriteEnd(gathered, context.Features.Get<IHttpRequestTrailersFeature>(), credential);
        await FlushAsync();
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    private async ValueTask FlushAsync()
    {
        if (connection.Request.Written.IsEmpty)
            return;
        await WriteAsync(connection.Request.Written);
        connection.Request.Clear();
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    private async ValueTask WriteAsync(ReadOnlyMemory<byte> bytes)
    {
        await connection.WriteAsync(bytes);
        connection.Silence.Restart(); // a system that accepts bytes is not silent
    }
}
