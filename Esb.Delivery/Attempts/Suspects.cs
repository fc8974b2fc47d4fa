using System.Collections.Concurrent;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Attempts;

/// <summary>Identifies the message that crashes the process among those in flight at the crash. This host sends them one at a time, each
/// with a durable mark that remains only after a crash.</summary>
/// <remarks>Thread-safe; shared by all endpoints.</remarks>
internal sealed partial class Suspects(ICrashMarks marks, TimeProvider time, ILogger<Suspects> logger) : IAsyncDisposable
{
    /// <summary>The error code of a message identified as the cause of crashes.</summary>
    public const string Code = "ESB-DELIVERY-CRASH";

    // A single crash during the send may be a coincidence.
    private const int MostDeaths = 2;

    private static readonly TimeSpan Pause = TimeSpan.FromSeconds(1);

    private readonly SemaphoreSlim _alone = new(1, 1);
    private readonly CancellationTokenSource _stopping = new();

    // Marks that the store failed to remove although the process survived. Every host would count them as crashes.
    private readonly ConcurrentDictionary<(string Endpoint, Guid MessageId), Task> _left = [];

    /// <summary>Sends a suspect message.</summary>
    /// <exception cref="EndpointException"><see cref="Code"/>: the message has crashed the process too often.</exception>
    public async ValueTask<EsbMessage?> SendAsync(
        string endpoint,
        EsbMessage message,
        Func<ValueTask<EsbMessage?>> send,
        CancellationToken waiting
    )
    {
        await _alone.WaitAsync(waiting);
        try
        {
            var died = await MarkAsync(endpoint, message.Id, waiting);
            if (died > MostDeaths)
                throw new EndpointException(
                    endpoint,
                    Code,
                    $"The process died {MostDeaths} times while it sent this message alone; it is not tried again.",
                    isTransient: false
                )
                {
                    IsUnsent = true,
                };
            try
            {
                return await send();
            }
            finally
            {
                await UnmarkAsync(endpoint, message.Id); // success or failure, the process survived
            }
        }
        finally
        {
            _alone.Release();
        }
    }

    /// <summary>Clears the mark of a message, because an operator retries it.</summary>
    public async Task AbsolveAsync(string endpoint, Guid messageId, CancellationToken cancellationToken) =>
        await marks.RemoveAsync(endpoint, messageId, cancellationToken);

    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        await Task.WhenAll(_left.Values);
        _stopping.Dispose();
        _alone.Dispose();
    }

    // An unreachable store cannot hold a mark. The message is then sent without one, so that other messages do not wait for the store.
    private async Task<int> MarkAsync(string endpoint, Guid messageId, CancellationToken waiting)
    {
        if (_left.ContainsKey((endpoint, messageId)))
            return 0;
        try
        {
            return await marks.AddAsync(endpoint, messageId, waiting);
        }
        catch (EsbException ex)
        {
            LogNotMarked(messageId, endpoint, ex);
            return 0;
        }
    }

    private async Task UnmarkAsync(string endpoint, Guid messageId)
    {
        try
        {
            await marks.RemoveAsync(endpoint, messageId, CancellationToken.None);
        }
        catch (EsbException ex)
        {
            LogMarkLeft(messageId, endpoint, ex);
            if (!_left.ContainsKey((endpoint, messageId)))
                _left[(endpoint, messageId)] = UnmarkLaterAsync(endpoint, messageId);
        }
    }

    private async Task UnmarkLaterAsync(string endpoint, Guid messageId)
    {
        while (true)
        {
            try
            {
                await Task.Delay(Pause, time, _stopping.Token);
                await marks.RemoveAsync(endpoint, messageId, _stopping.Token);
                _left.TryRemove((endpoint, messageId), out _);
                return;
            }
            catch (EsbException)
            {
                // The store is still unreachable; this is reported elsewhere.
            }
            catch (OperationCanceledException)
            {
                return; // the host stops
            }
        }
    }

    [LoggerMessage(
        EventId = 2434,
        Level = LogLevel.Warning,
        Message = "Message {MessageId} of {Endpoint} was in flight when a process or a connection died; it is delivered again "
            + "without a mark"
    )]
    private partial void LogNotMarked(Guid messageId, string endpoint, Exception exception);

    [LoggerMessage(
        EventId = 2435,
        Level = LogLevel.Warning,
        Message = "The mark of message {MessageId} of {Endpoint} could not be taken off; trying again"
    )]
    private partial void LogMarkLeft(Guid messageId, string endpoint, Exception exception);
}
