using System.Security.Cryptography;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Storage;

namespace Esb.Storage.Files.Claims;

/// <summary>A stored body as it is read: at its end it is known to be the one of the ticket. Not thread-safe.</summary>
/// <param name="file">The file; disposed with this.</param>
/// <param name="ticket">The ticket.</param>
internal sealed class ClaimedBody(FileStream file, ClaimTicket ticket) : ReadOnlyStream
{
    private readonly IncrementalHash _hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);

    public override long Length => file.Length;

    public override long Position
    {
        get => file.Position;
        set => throw new NotSupportedException();
    }

    public override int Read(Span<byte> buffer)
    {
        var read = file.Read(buffer);
        Check(buffer[..read], buffer.Length);
        return read;
    }

    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        var read = await file.ReadAsync(buffer, cancellationToken);
        Check(buffer.Span[..read], buffer.Length);
        return read;
    }

    protected override void Dispose(bool disposing)
    {
        if (disposing)
        {
            _hash.Dispose();
            file.Dispose();
        }

        base.Dispose(disposing);
    }

    private void Check(ReadOnlySpan<byte> read, int asked)
    {
        _hash.AppendData(read);
        if (asked > 0 && read.IsEmpty && ClaimTicket.For(ticket.Id, _hash.GetCurrentHash()) != ticket)
            throw new EsbException("ESB-CLAIM-GONE", $"What is kept under {ticket} is not the body any more.", FaultKind.Invalid);
    }
}
