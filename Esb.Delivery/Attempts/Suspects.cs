using System.Collections.Concurrent;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Attempts;

/// <summary>Finds the message that kills the process among those that were under way when it died: they are sent one at a time in this host, each with a durable mark that only survives a death.</summary>
/// <remarks>Thread-safe; one for all endpoints.</remarks>
internal sealed partial class Suspects(ICrashMarks marks, TimeProvider time, ILogger<Suspects> logger) : IAsyncDisposable
{
    /// <summary>The code of a message that was found out.</summary>
    public const string Code = "ESB-DELIVERY-CRASH";

    // A process may be killed by somebody else at just that moment, once.
    private const int MostDeaths = 2;

    private static readonly TimeSpan Pause = TimeSpan.FromSeconds(1);

    private readonly SemaphoreSlim _alone = new(1, 1);
    private readonly CancellationTokenSource _stopping = new();

    // Marks that the store would not take off, although the process lived: here and on every other host they would count as deaths.
    private readonly ConcurrentDictionary<(string Endpoint, Guid MessageId), Task> _left = [];

    /// <summary>Sends a message that may be the one.</summary>
    /// <exception cref="EndpointException"><see cref="Code"/>: it is.</exception>
    public async ValueTask<EsbMessage?> SendAsync(string endpoint, EsbMessage message, Func<ValueTask<EsbMessage?>> send, CancellationToken waiting)
    {
        await _alone.WaitAsync(waiting);
        try
        {
            var died = await MarkAsync(endpoint, message.Id, waiting);
            if (died > MostDeaths)
                throw new EndpointException(endpoint, Code, $"The process died {MostDeaths} times while it sent this message alone; it is not tried again.", isTransient: false) { IsUnsent = true };
            try
            {
                return await send();
            }
            finally
            {
                await UnmarkAsync(endpoint, message.Id); // whatever came of it, the process lives
            }
        }
        finally
        {
            _alone.Release();
        }
    }

    /// <summary>An operator wants it tried again.</summary>
    public async Task AbsolveAsync(string endpoint, Guid messageId, CancellationToken cancellationToken) => await marks.RemoveAsync(endpoint, messageId, cancellationToken);

    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        await Task.WhenAll(_left.Values);
        _stopping.Dispose();
        _alone.Dispose();
    }

    // While the store is away nothing can be marked. Then the message goes without: the neighbours shall not wait for the store.
    private async Task<int> MarkAsync(string endpoint, Guid messageId, CancellationToken waiting)
    {
        if (_left.ContainsKey((endpoint, messageId))) return 0;
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
            if (!_left.ContainsKey((endpoint, messageId))) _left[(endpoint, messageId)] = UnmarkLaterAsync(endpoint, messageId);
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
                // The store is still away, which others tell.
            }
            catch (OperationCanceledException)
            {
                return; // the host stops
            }
        }
    }

    [LoggerMessage(EventId = 2434, Level = LogLevel.Warning, Message = "Message {MessageId} of {Endpoint} was in flight when a process or a connection died; it is delivered again without a mark")]
    private partial void LogNotMarked(Guid messageId, string endpoint, Exception exception);

    [LoggerMessage(EventId = 2435, Level = LogLevel.Warning, Message = "The mark of message {MessageId} of {Endpoint} could not be taken off; trying again")]
    private partial void LogMarkLeft(Guid messageId, string endpoint, Exception exception);
}
