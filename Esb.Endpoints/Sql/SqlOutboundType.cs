using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Expressions;

namespace Esb.Endpoints.Sql;

/// <summary>The type <c>sql-outbound</c>.</summary>
internal sealed class SqlOutboundType(IExpressionCompiler expressions, EsbConfiguration configuration, DatabaseConnections databases, TimeProvider time)
    : OutboundEndpointType<SqlOutboundConfig>
{
    private long MaxBodyBytes => configuration.Section<LimitsConfig>("limits").MaxBodySize.Bytes;

    protected override void Check(SqlOutboundConfig settings, ConfigErrors errors) => SqlCommandPlan.Compile(settings, expressions, MaxBodyBytes, errors);

    protected override IOutboundAdapter Create(SqlOutboundConfig settings) => new SqlOutboundAdapter(
        settings,
        new Lazy<SqlCommandPlan>(() => SqlCommandPlan.Compile(settings, expressions, MaxBodyBytes, new ConfigErrors()) ?? throw new InvalidOperationException($"{settings.Path} was not checked.")),
        databases,
        configuration.Name,
        MaxBodyBytes,
        time);
}

/// <summary>What the instances of one sql-outbound endpoint share: the checked command. The connections are shared by all endpoints, and outlive them.</summary>
internal sealed class SqlOutboundAdapter(SqlOutboundConfig config, Lazy<SqlCommandPlan> plan, DatabaseConnections databases, string bus, long maxBodyBytes, TimeProvider time)
    : IFencingAdapter
{
    public IOutboundEndpoint CreateInstance() => new SqlOutboundEndpoint(config, plan.Value, databases.Find(config.Connection), bus, maxBodyBytes, time);

    public Task RaiseFenceAsync(long fencingToken, CancellationToken cancellationToken) =>
        databases.Find(config.Connection).Tables.RaiseFenceAsync(new Fence(bus, config.Name, fencingToken), cancellationToken);

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;
}
