using Esb.Audit.Recording;
using Esb.Audit.Services;
using Esb.Core.Audit;
using Esb.Core.Pooling;
using Esb.Core.Processes;

namespace Esb.Audit.Steps;

/// <summary>Records a message where it stands in its process; durable before the next step runs. Thread-safe.</summary>
internal sealed class AuditStep(
    AuditStepConfig config,
    IReadOnlyList<AuditField> fields,
    InstancePool<AuditProxy> proxies,
    long maxBodyBytes,
    AuditRecorder recorder,
    TimeProvider time
)
{
    private readonly bool _readsBody = config.Body || fields.Any(field => field.Value.ReadsBody);

    public async ValueTask RunAsync(MessageContext context, CancellationToken cancellationToken)
    {
        if (_readsBody)
            await context.Message.Body.BufferAsync(maxBodyBytes, cancellationToken);
        var fact = AuditFacts.Of(context.Received, AuditKind.Recorded, time) with
        {
            Name = config.As,
            Process = context.Process,
            Endpoint = context.Endpoint,
        };
        fact = recorder.Describe(fact, context, fields, config.Body);

        var started = time.GetTimestamp();
        using var proxy = await proxies.RentAsync(cancellationToken);
        await proxy.Instance.RecordAsync(fact, RestOf(config.PoolTimeout, started), cancellationToken);
    }

    // What it waited for a proxy it does not wait for the service as well.
    private TimeSpan RestOf(TimeSpan timeout, long started)
    {
        var rest = timeout - time.GetElapsedTime(started);
        return rest > TimeSpan.Zero ? rest : TimeSpan.Zero;
    }
}
