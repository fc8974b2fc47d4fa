using System.Buffers;
using System.IO.Pipelines;
using System.Text;
using Esb.Endpoints.Http.Receiving;

namespace Esb.Endpoints.Http.Refusals;

/// <summary>The output of a connection. Passes everything through, but adds a body to the empty answer with which the server refuses a
/// request. Used by one writer at a time.</summary>
internal sealed class RefusalWriter(PipeWriter connection) : PipeWriter
{
    private static ReadOnlySpan<byte> NoBody => "\r\nContent-Length: 0\r\n"u8;

    private ArrayBufferWriter<byte>? _answer;
    private ReadOnlyMemory<byte> _problem;

    public override bool CanGetUnflushedBytes => connection.CanGetUnflushedBytes;

    public override long UnflushedBytes => connection.UnflushedBytes + (_answer?.WrittenCount ?? 0);

    /// <summary>Declares that the next write is a whole answer; if that answer is empty, it gets this body.</summary>
    public void AddToNextAnswer(ReadOnlyMemory<byte> problem) => (_answer, _problem) = (new ArrayBufferWriter<byte>(), problem);

    public override Memory<byte> GetMemory(int sizeHint = 0) => _answer?.GetMemory(sizeHint) ?? connection.GetMemory(sizeHint);

    public override Span<byte> GetSpan(int sizeHint = 0) => _answer is null ? connection.GetSpan(sizeHint) : _answer.GetSpan(sizeHint);

    public override void Advance(int bytes)
    {
        if (_answer is null)
            connection.Advance(bytes);
        else
            _answer.Advance(bytes);
    }

    public override ValueTask<FlushResult> FlushAsync(CancellationToken cancellationToken = default)
    {
        if (_answer is { WrittenCount: > 0 } answer)
        {
            _answer = null;
            Write(answer.WrittenSpan);
        }

        return connection.FlushAsync(cancellationToken);
    }

    public override void CancelPendingFlush() => connection.CancelPendingFlush();

    public override void Complete(Exception? exception = null) => connection.Complete(exception);

    private void Write(ReadOnlySpan<byte> answer)
    {
        var place = answer.IndexOf(NoBody);
        if (place < 0 || !answer.EndsWith("\r\n\r\n"u8))
        {
            connection.Write(answer);
            return;
        }

        connection.Write(answer[..place]);
        connection.Write(Encoding.ASCII.GetBytes($"\r\nContent-Type: {HttpProblems.ContentType}\r\nContent-Length: {_problem.Length}\r\n"));
        connection.Write(answer[(place + NoBody.Length)..]);
        connection.Write(_problem.Span);
    }
}
