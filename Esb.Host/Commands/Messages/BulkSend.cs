using Esb.Host.Management;

namespace Esb.Host.Commands.Messages;

/// <summary>Sends a body many times, in batches.</summary>
internal sealed class BulkSend(ManagementClient client, TimeProvider time)
{
    public required string Subject { get; init; }

    public required ReadOnlyMemory<byte> Body { get; init; }

    public required string ContentType { get; init; }

    /// <summary>The headers of each message.</summary>
    public IReadOnlyDictionary<string, string> Headers { get; init; } = new Dictionary<string, string>();

    public required int Count { get; init; }

    public required int Batch { get; init; }

    /// <summary>The pause between two batches.</summary>
    public required TimeSpan Delay { get; init; }

    /// <summary>Sends all batches; the first failure stops it.</summary>
    /// <param name="sent">Receives the total number sent after each batch.</param>
    /// <param name="cancellationToken">Stops after the current batch.</param>
    /// <returns>The host's answer to the last batch.</returns>
    public async Task<SendReceipt> RunAsync(Action<int> sent, CancellationToken cancellationToken)
    {
        var receipt = await SendAsync(Math.Min(Batch, Count), cancellationToken);
        var done = receipt.Count;
        sent(done);
        while (done < Count)
        {
            if (Delay > TimeSpan.Zero)
                await Task.Delay(Delay, time, cancellationToken);
            receipt = await SendAsync(Math.Min(Batch, Count - done), cancellationToken);
            done += receipt.Count;
            sent(done);
        }

        return receipt;
    }

    private Task<SendReceipt> SendAsync(int count, CancellationToken cancellationToken) =>
        client.SendAsync(Subject, Body, ContentType, Headers, count, cancellationToken);
}
