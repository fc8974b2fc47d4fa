using Esb.Host.Management;

namespace Esb.Host.Commands.Messages;

/// <summary>Sends a body many times over, batch by batch.</summary>
internal sealed class BulkSend(ManagementClient client, TimeProvider time)
{
    public required string Subject { get; init; }

    public required ReadOnlyMemory<byte> Body { get; init; }

    public required string ContentType { get; init; }

    public required int Count { get; init; }

    public required int Batch { get; init; }

    /// <summary>The pause between two batches.</summary>
    public required TimeSpan Delay { get; init; }

    /// <summary>Sends everything; the first failure ends it.</summary>
    /// <param name="sent">Is told after each batch how many were sent by then.</param>
    /// <param name="cancellationToken">Ends it after the batch under way.</param>
    /// <returns>What the host said of the last batch.</returns>
    public async Task<SendReceipt> RunAsync(Action<int> sent, CancellationToken cancellationToken)
    {
        var receipt = await SendAsync(Math.Min(Batch, Count), cancellationToken);
        var done = receipt.Count;
        sent(done);
        while (done < Count)
        {
            if (Delay > TimeSpan.Zero) await Task.Delay(Delay, time, cancellationToken);
            receipt = await SendAsync(Math.Min(Batch, Count - done), cancellationToken);
            done += receipt.Count;
            sent(done);
        }

        return receipt;
    }

    private Task<SendReceipt> SendAsync(int count, CancellationToken cancellationToken) => client.SendAsync(Subject, Body, ContentType, count, cancellationToken);
}
