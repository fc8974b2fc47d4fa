using Esb.Core.Messages;
using Esb.Endpoints.Http.Wire;
using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http.Receiving;

/// <summary>The body of a request as it arrives. Failures to read it are those of the caller, and no failures of what it is written to.
/// Used by one reader.</summary>
internal sealed class RequestBodyStream : Stream
{
    private readonly HttpContext _context;
    private readonly Stream _body;
    private readonly TimeSpan _patience;
    private CancellationTokenSource? _still; // of all reads: it is cancelled where one of them takes too long
    private CancellationToken _caller;

    private RequestBodyStream(HttpContext context, TimeSpan patience) =>
        (_context, _body, _patience) = (context, context.Request.Body, patience);

    public override bool CanRead => true;

    public override bool CanSeek => false;

    public override bool CanWrite => false;

    public override long Length => throw new NotSupportedException();

    public override long Position
    {
        get => throw new NotSupportedException();
        set => throw new NotSupportedException();
    }

    /// <summary>The body of a request, read once.</summary>
    /// <param name="context">The request.</param>
    /// <param name="patience">How long the body may stand still.</param>
    public static MessageBody Of(HttpContext context, TimeSpan patience)
    {
        var stream = new RequestBodyStream(context, patience);
        context.Response.RegisterForDispose(stream);
        return MessageBody.FromStream(stream, context.Request.ContentLength);
    }

    // The server's own limit is a mean of the whole body, which a fast beginning keeps for hours. A cancelled read leaves its body reader
    // unusable for the rest, which nobody reads then.
    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        var still = StillOf(cancellationToken);
        still.CancelAfter(_patience);
        try
        {
            return await _body.ReadAsync(buffer, still.Token);
        }
        catch (OperationCanceledException ex) when (!cancellationToken.IsCancellationRequested)
        {
            throw still.IsCancellationRequested ? HttpContentRules.Slow(ex) : HttpContentRules.Explain(ex, _context);
        }
        catch (IOException ex)
        {
            throw HttpContentRules.Explain(ex, _context);
        }
        finally
        {
            still.CancelAfter(Timeout.InfiniteTimeSpan); // what is read may take its time to be written
        }
    }

    public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        ReadAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    public override void Flush() { }

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();

    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    protected override void Dispose(bool disposing)
    {
        if (disposing)
            _still?.Dispose();
        base.Dispose(disposing);
    }

    private CancellationTokenSource StillOf(CancellationToken caller)
    {
        if (_still is not null && _caller == caller)
            return _still;
        _still?.Dispose();
        _caller = caller;
        return _still = CancellationTokenSource.CreateLinkedTokenSource(caller);
    }
}
