using System.Buffers;
using System.IO.Pipelines;
using System.Runtime.CompilerServices;
using Esb.Core.Errors;
using Esb.Endpoints.Http.Outside;
using Esb.Endpoints.Http.Wire;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;

namespace Esb.Endpoints.Http.Relaying;

/// <summary>Sends a request, its body as it comes from the caller.</summary>
internal sealed class RelayUpload(HttpContext context, OutsideConnection connection, RelayHeaders headers)
{
    // Together in one packet where they come together; larger pieces go out as they are.
    private const int GatheredBytes = 64 * 1024;

    private readonly bool _isChunked = context.Request.ContentLength is null;
    private EsbException? _fault;
    private volatile bool _hasReadAll;
    private volatile bool _isDiscarded;
    private volatile bool _isStopped;

    /// <summary>Whether the caller has sent everything; not where the outside did not want it.</summary>
    public bool HasReadAll => _hasReadAll;

    /// <summary>Whether everything was sent.</summary>
    public bool IsComplete { get; private set; }

    /// <summary>The caller's part in a failure.</summary>
    public void ThrowIfFailed()
    {
        if (_fault is not null) throw _fault;
    }

    /// <summary>Whatever still comes is read, and goes nowhere.</summary>
    public void Discard() => _isDiscarded = true;

    /// <summary>Ends sending at once, and with it the connection.</summary>
    public async ValueTask StopAsync(Task sending)
    {
        if (sending.IsCompleted) return;
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

    /// <summary>Sends what is left of the head, and the body. Does not throw: where the caller fails, the connection ends with it; where the outside does not listen any more, it may have said why.</summary>
    public async Task SendAsync(bool hasBody)
    {
        try
        {
            if (hasBody) await CopyAsync(context.Request.BodyReader);
            else await SendHeadAsync();
            (_hasReadAll, IsComplete) = (true, !_isDiscarded && !_isStopped);
        }
        catch (EsbException ex)
        {
            _fault = ex;
            connection.Abort();
        }
        catch (OutsideException)
        {
            connection.Silence.Restart(); // for the answer, or the end
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
                if (result.IsCanceled) continue;
                _hasReadAll = result.IsCompleted;
                if (!_isDiscarded) await PassAsync(result.Buffer, result.IsCompleted);
                if (result.IsCompleted) return;
            }
            finally
            {
                caller.AdvanceTo(result.Buffer.End); // also where the outside is gone: behind a read that did not end, the server cannot take what still comes, and resets the connection
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

    // What has been gathered does not wait with us. No token: a read that is cancelled leaves the server's body reader unusable; the server itself ends reads of callers that hang up or are too slow.
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<ReadResult> WaitAsync(PipeReader caller)
    {
        if (!_isDiscarded) await FlushAsync();
        connection.Silence.Pause();
        var result = await caller.ReadAsync(CancellationToken.None);
        if (!_isDiscarded) connection.Silence.Restart();
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
            if (gathered.Written.Length + piece.Length > GatheredBytes) await FlushAsync();
            if (piece.Length > GatheredBytes) await WriteAsync(piece);
            else gathered.Write(piece.Span);
        }

        if (_isChunked && !body.IsEmpty) gathered.Write("\r\n"u8);
        if (_isChunked && isLast) headers.WriteEnd(gathered, context.Features.Get<IHttpRequestTrailersFeature>());
        await FlushAsync();
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    private async ValueTask FlushAsync()
    {
        if (connection.Request.Written.IsEmpty) return;
        await WriteAsync(connection.Request.Written);
        connection.Request.Clear();
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    private async ValueTask WriteAsync(ReadOnlyMemory<byte> bytes)
    {
        await connection.WriteAsync(bytes);
        connection.Silence.Restart(); // it takes what is sent: that is not silence
    }
}
