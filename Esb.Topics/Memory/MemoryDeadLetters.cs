using System.Threading.Channels;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Microsoft.Extensions.Logging;

namespace Esb.Topics.Memory;

/// <summary>Hands over dead letters one at a time. A message is settled only when its dead letter has been taken: until then there is no
/// other copy.</summary>
internal sealed partial class MemoryDeadLetters(TimeProvider time, ILogger logger)
{
    private static readonly TimeSpan Pause = TimeSpan.FromSeconds(1);

    // Bounded by the message limit of the transport.
    private readonly Channel<(DeadLetter Letter, MemoryMessage Published)> _waiting = Channel.CreateUnbounded<(
        DeadLetter,
        MemoryMessage
    )>();

    private readonly SemaphoreSlim _active = new(1, 1);

    /// <summary>The number of dead letters that have not been taken yet.</summary>
    public int Waiting => _waiting.Reader.Count;

    public void Add(DeadLetter letter, MemoryMessage published) =>
        _waiting.Writer.TryWrite((letter with { TraceParent = TraceParent.Of(published.Parent) }, published));

    public ITopicReader Read(DeadLetterHandler handler) => new Reader(this, handler);

    private async Task ReadAsync(DeadLetterHandler handler, CancellationToken stopping)
    {
        try
        {
            await _active.WaitAsync(stopping);
        }
        catch (OperationCanceledException)
        {
            return;
        }

        try
        {
            while (await _waiting.Reader.WaitToReadAsync(stopping))
            {
                if (!_waiting.Reader.TryPeek(out var first) || !await TryHandAsync(handler, first.Letter, stopping))
                    continue;
                if (_waiting.Reader.TryRead(out _))
                    first.Published.SettleOne();
            }
        }
        catch (OperationCanceledException) when (stopping.IsCancellationRequested)
        {
            // Disposed; waiting dead letters stay for the next reader.
        }
        finally
        {
            _active.Release();
        }
    }

    private async Task<bool> TryHandAsync(DeadLetterHandler handler, DeadLetter letter, CancellationToken stopping)
    {
        try
        {
            await handler(letter, stopping);
            return true;
        }
        catch (Exception ex) when (ex is not OperationCanceledException || !stopping.IsCancellationRequested)
        {
            LogNotTaken(letter.Message.Id, letter.Endpoint, ex);
            await Task.Delay(Pause, time, stopping);
            return false;
        }
    }

    [LoggerMessage(
        EventId = 1503,
        Level = LogLevel.Error,
        Message = "The dead letter {MessageId} of {Endpoint} could not be stored; it is offered again"
    )]
    private partial void LogNotTaken(Guid messageId, string endpoint, Exception exception);

    private sealed class Reader : ITopicReader
    {
        private readonly CancellationTokenSource _stopping = new();
        private readonly Task _reading;

        public Reader(MemoryDeadLetters letters, DeadLetterHandler handler) => _reading = letters.ReadAsync(handler, _stopping.Token);

        public bool IsLive => !_reading.IsCompleted;

        public async ValueTask DisposeAsync()
        {
            await _stopping.CancelAsync();
            await _reading;
        }
    }
}
