using System.Collections.Concurrent;
using System.Text.Json;

namespace Esb.IntegrationTests.Faults.Ledgers;

/// <summary>What was sent, and what came of it: on the disk before anything is sent. Thread-safe.</summary>
internal sealed class SendLedger(string path) : IAsyncDisposable
{
    private readonly AppendOnlyFile _file = new(path);
    private readonly ConcurrentDictionary<string, SentMessage> _messages = new();

    /// <summary>Every message by its latest line.</summary>
    public IReadOnlyCollection<SentMessage> Messages => [.. _messages.Values];

    public int Acknowledged => _messages.Count(message => message.Value.Outcome == SendOutcome.Confirmed);

    /// <summary>Before a message is sent.</summary>
    public Task BeginAsync(SentMessage message) => WriteAsync(message);

    /// <summary>After its outcome is known. One that was confirmed once stays confirmed, whatever a repetition brings.</summary>
    public Task EndAsync(SentMessage message)
    {
        var isSettled = _messages.TryGetValue(message.Id, out var before) && before.Outcome == SendOutcome.Confirmed;
        return isSettled ? Task.CompletedTask : WriteAsync(message);
    }

    public ValueTask DisposeAsync() => _file.DisposeAsync();

    private async Task WriteAsync(SentMessage message)
    {
        await _file.AppendAsync(JsonSerializer.Serialize(message));
        _messages[message.Id] = message;
    }
}
