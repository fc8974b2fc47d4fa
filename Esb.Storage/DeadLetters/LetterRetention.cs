using Esb.Core.Storage;
using Microsoft.Extensions.Logging;

namespace Esb.Storage.DeadLetters;

/// <summary>Deletes replayed and discarded dead letters, and completed jobs, once they are older than <c>store.retention</c>.</summary>
internal sealed partial class LetterRetention(
    StoreConfig config,
    ILetterRetention store,
    TimeProvider time,
    ILogger<LetterRetention> logger
) : RetentionPart(() => config.Retention, time)
{
    protected override async Task RemoveBeforeAsync(DateTimeOffset moment, CancellationToken cancellationToken)
    {
        var removed = await store.RemoveSettledAsync(moment, cancellationToken);
        if (removed is not (0, 0))
            LogRemoved(removed.Letters, removed.Jobs);
    }

    protected override void NoteFailure(string reason) => LogNotRemoved(reason);

    [LoggerMessage(
        EventId = 4516,
        Level = LogLevel.Information,
        Message = "{Letters} replayed or discarded dead letters and {Jobs} replay jobs were removed: their retention is over"
    )]
    private partial void LogRemoved(long letters, long jobs);

    [LoggerMessage(
        EventId = 4517,
        Level = LogLevel.Warning,
        Message = "settled dead letters could not be removed; trying again in an hour: {Reason}"
    )]
    private partial void LogNotRemoved(string reason);
}
