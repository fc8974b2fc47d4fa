using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Expressions;
using Esb.Endpoints.Sql.Batches;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Endpoints.Sql;

/// <summary>The type <c>sql-outbound</c>.</summary>
internal sealed class SqlOutboundType(IExpressionCompiler expressions, BusIdentity bus, LimitsConfig limits)
    : OutboundEndpointType<SqlOutboundConfig>
{
    private readonly long _maxBodyBytes = limits.MaxBodySize.Bytes;

    protected override CreateOutbound? Compile(SqlOutboundConfig settings, ConfigErrors errors)
    {
        var plan = SqlCommandPlan.Compile(settings, expressions, _maxBodyBytes, errors);
        if (settings.Batch is not null)
            CheckBatch(settings, errors);
        return plan is null
            ? null
            : services => new SqlOutboundAdapter(
                settings,
                plan,
                services.GetRequiredService<DatabaseConnections>(),
                bus.Name,
                _maxBodyBytes,
                services.GetRequiredService<TimeProvider>()
            );
    }

    private static void CheckBatch(SqlOutboundConfig settings, ConfigErrors errors)
    {
        if (settings.Execute is null)
            errors.Add("ESB-CFG-BATCH", settings, "batch", "a query or a procedure answers each message for itself; expected execute");
        if (settings.Delivery != DeliveryMode.Parallel && settings.IsSound("delivery"))
            errors.Add(
                "ESB-CFG-BATCH",
                settings,
                "batch",
                "messages of one batch succeed and fail at once, which in order they must not; expected delivery \"parallel\""
            );
        if (settings.SingleInstance)
            errors.Add("ESB-CFG-BATCH", settings, "batch", "each effect shows its own fence with singleInstance; expected one of the two");
    }
}

/// <summary>State shared by the instances of one sql-outbound endpoint: the checked command. All endpoints share the connections, which
/// outlive them.</summary>
/// <param name="config">The endpoint.</param>
/// <param name="plan">Its command.</param>
/// <param name="databases">The connections.</param>
/// <param name="bus">The name of the bus, for data kept in the database.</param>
/// <param name="maxBodyBytes">The maximum size of an answer, in bytes.</param>
/// <param name="time">The clock of batches.</param>
internal sealed class SqlOutboundAdapter(
    SqlOutboundConfig config,
    SqlCommandPlan plan,
    DatabaseConnections databases,
    string bus,
    long maxBodyBytes,
    TimeProvider time
) : IFencingAdapter
{
    // Shared by all instances, so that their concurrent deliveries are batched together.
    private readonly Lazy<MessageBatcher>? _batcher = config.Batch is not { } batch
        ? null
        : new(() =>
            new MessageBatcher(
                batch,
                MostAtOnce(config, config.PoolSize, config.ProcessingThreads),
                new SqlBatch(config, plan.Text, plan.Types, databases.Find(config.Connection)).RunAsync,
                time
            )
        );

    public IOutboundEndpoint CreateInstance() =>
        new SqlOutboundEndpoint(config, plan, databases.Find(config.Connection), bus, maxBodyBytes, time, _batcher?.Value);

    public void Resize(int poolSize, int processingThreads) => _batcher?.Value.MostAtOnce = MostAtOnce(config, poolSize, processingThreads);

    public Task RaiseFenceAsync(long fencingToken, CancellationToken cancellationToken) =>
        databases.Find(config.Connection).Tables.RaiseFenceAsync(new Fence(bus, config.Name, fencingToken), cancellationToken);

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;

    // Each message that waits for a batch holds an instance, and a message of a queue also holds a thread.
    private static int MostAtOnce(SqlOutboundConfig config, int poolSize, int processingThreads) =>
        config.Subscribe.Count > 0 ? Math.Min(poolSize, processingThreads) : poolSize;
}
