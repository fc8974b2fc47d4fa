using System.Collections.Concurrent;
using Esb.Core.Diagnostics;
using Microsoft.Extensions.Logging;

namespace Esb.Audit.Recording;

/// <summary>Warns of fields without a value, of each once a minute at most. Thread-safe.</summary>
/// <param name="time">Tells when.</param>
/// <param name="logger">Takes the warnings.</param>
internal sealed partial class AuditWarnings(TimeProvider time, ILogger logger)
{
    private static readonly TimeSpan Interval = TimeSpan.FromMinutes(1);

    // as many as the configuration has fields and places
    private readonly ConcurrentDictionary<(string Field, string Record, string Place), LogPace> _paces = new();

    /// <summary>There is no value for a field.</summary>
    /// <param name="field">The field.</param>
    /// <param name="messageId">The message.</param>
    /// <param name="record">What is recorded without it: the name of an audit step, or what happened.</param>
    /// <param name="place">The process or the endpoint.</param>
    public void Missing(string field, Guid messageId, string record, string place)
    {
        if (_paces.GetOrAdd((field, record, place), _ => new LogPace(time, Interval)).Next() is not null)
            LogMissing(field, messageId, record, place);
    }

    [LoggerMessage(
        EventId = 4010,
        Level = LogLevel.Warning,
        Message = "there is no value for the field {Field} in message {MessageId}: {Name} of {Place} records it without; shown once "
            + "a minute"
    )]
    private partial void LogMissing(string field, Guid messageId, string name, string place);
}
