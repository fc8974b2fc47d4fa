using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Delivery;

internal sealed partial class DeliveryController
{
    [LoggerMessage(EventId = 2401, Level = LogLevel.Debug, Message = "Message {MessageId} was not delivered by {Endpoint}, attempt {Attempt}: {Code}: {Reason}")]
    private partial void LogFailed(Guid messageId, string endpoint, int attempt, string code, string reason);

    [LoggerMessage(EventId = 2402, Level = LogLevel.Error, Message = "Message {MessageId} was given up by {Endpoint} after {Attempts} attempts and kept as a dead letter: {Code}: {Reason}")]
    private partial void LogDeadLettered(Guid messageId, string endpoint, int attempts, string code, string reason);

    [LoggerMessage(EventId = 2403, Level = LogLevel.Error, Message = "Endpoint {Endpoint} stopped at message {MessageId} to keep the order: {Code}: {Reason}")]
    private partial void LogStopped(string endpoint, Guid messageId, string code, string reason);

    [LoggerMessage(EventId = 2404, Level = LogLevel.Warning, Message = "Endpoint {Endpoint} paused, its outside is away: {Reason}")]
    private partial void LogPaused(string endpoint, string reason);

    [LoggerMessage(EventId = 2405, Level = LogLevel.Information, Message = "Endpoint {Endpoint} goes on, its outside is back")]
    private partial void LogResumed(string endpoint);

    [LoggerMessage(EventId = 2406, Level = LogLevel.Error, Message = "Message {MessageId} of {Endpoint} goes back to its queue: what became of it could not be recorded")]
    private partial void LogNotRecorded(Guid messageId, string endpoint, Exception exception);
}
