using Esb.Audit.Services;
using Esb.Core.Audit;
using Esb.Core.Expressions;
using Esb.Core.Pooling;
using Esb.Core.Processes;
using Microsoft.Extensions.Logging;

namespace Esb.Audit.Steps;

/// <summary>Records a message where it stands in its process; durable before the next step runs. Thread-safe.</summary>
internal sealed partial class AuditStep(
    AuditStepConfig config,
    IReadOnlyList<AuditField> fields,
    InstancePool<AuditProxy> proxies,
    long maxBodyBytes,
    TimeProvider time,
    ILogger<AuditStep> logger)
{
    private static readonly TimeSpan WarningInterval = TimeSpan.FromMinutes(1);

    private readonly bool _readsBody = config.Body || fields.Any(field => field.Value.ReadsBody);
    private long _lastWarning = -1;

    public async ValueTask RunAsync(MessageContext context, CancellationToken cancellationToken)
    {
        if (_readsBody) await context.Message.Body.BufferAsync(maxBodyBytes, cancellationToken);
        var fact = AuditFacts.Of(context.Received, AuditKind.Recorded, time) with
        {
            Name = config.As,
            Process = context.Process,
            Endpoint = context.Endpoint,
            Fields = Evaluate(context),
        };
        if (config.Body) fact = fact with { ContentType = context.Message.ContentType, Body = context.Message.Body.Bytes };

        using var proxy = await proxies.RentAsync(cancellationToken);
        await proxy.Instance.RecordAsync(fact, cancellationToken);
    }

    private Dictionary<string, string> Evaluate(MessageContext context)
    {
        var values = new Dictionary<string, string>(fields.Count);
        foreach (var field in fields)
        {
            if (MessageValues.AsText(field.Value.Evaluate(context)) is { } text) values[field.Name] = text;
            else Warn(field, context);
        }

        return values;
    }

    private void Warn(AuditField field, MessageContext context)
    {
        var now = time.GetTimestamp();
        var last = Interlocked.Read(ref _lastWarning);
        if (last >= 0 && time.GetElapsedTime(last, now) < WarningInterval) return;
        if (Interlocked.CompareExchange(ref _lastWarning, now, last) == last) LogMissing(field.Name, context.Received.Id, config.As, context.Process);
    }

    [LoggerMessage(EventId = 4010, Level = LogLevel.Warning, Message = "there is no value for the field {Field} in message {MessageId}: {Name} of {Process} records it without; shown once a minute")]
    private partial void LogMissing(string field, Guid messageId, string name, string process);
}
