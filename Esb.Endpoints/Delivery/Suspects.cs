using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Delivery;

/// <summary>Finds the message that kills the process among those that were under way when it died: they are sent one at a time in this host, each with a durable mark that only survives a death.</summary>
/// <remarks>Thread-safe; one for all endpoints.</remarks>
internal sealed partial class Suspects(ICrashMarks marks, ILogger<Suspects> logger) : IDisposable
{
    /// <summary>The code of a message that was found out.</summary>
    public const string Code = "ESB-DELIVERY-CRASH";

    // A process may be killed by somebody else at just that moment, once.
    private const int MostDeaths = 2;

    private readonly SemaphoreSlim _alone = new(1, 1);

    /// <summary>Sends a message that may be the one.</summary>
    /// <exception cref="EndpointException"><see cref="Code"/>: it is.</exception>
    public async ValueTask<EsbMessage?> SendAsync(string endpoint, EsbMessage message, Func<ValueTask<EsbMessage?>> send, CancellationToken waiting)
    {
        await _alone.WaitAsync(waiting);
        try
        {
            if (await MarkAsync(endpoint, message.Id, waiting) > MostDeaths)
                throw new EndpointException(endpoint, Code, $"The process died {MostDeaths} times while it sent this message alone; it is not tried again.", isTransient: false);
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

    public void Dispose() => _alone.Dispose();

    // While the store is away nothing can be marked. Then the message goes without: the neighbours shall not wait for the store.
    private async Task<int> MarkAsync(string endpoint, Guid messageId, CancellationToken waiting)
    {
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
            LogNotMarked(messageId, endpoint, ex);
        }
    }

    [LoggerMessage(EventId = 2434, Level = LogLevel.Warning, Message = "Message {MessageId} of {Endpoint} was under way when a process or a connection died; it goes on without a mark")]
    private partial void LogNotMarked(Guid messageId, string endpoint, Exception exception);
}
