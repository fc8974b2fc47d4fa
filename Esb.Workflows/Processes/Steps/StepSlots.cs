using Esb.Core.Configuration.Settings;
using Esb.Core.Pooling;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Esb.Workflows.Processes.Steps;

/// <summary>What steps have in common that bound how often they run at once.</summary>
internal abstract record PooledStepConfig : SettingsRecord
{
    [Setting("How often the step may run at once on a host.", Range = "1..1000")]
    public int MaximumInstances { get; init; } = 50;

    [Setting("How long a message waits for its turn before it fails.", Range = "1ms..1h")]
    public TimeSpan PoolTimeout { get; init; } = TimeSpan.FromSeconds(60);
}

/// <summary>The turns of a step whose work has no state of its own: as a pool of instances, with its time-out and its warning.</summary>
internal sealed class StepSlots(string owner, PooledStepConfig settings, IServiceProvider services)
{
    private readonly InstancePool<object> _pool = new(
        owner,
        static () => new object(),
        new PoolLimits(settings.MaximumInstances, settings.PoolTimeout),
        services.GetRequiredService<TimeProvider>(),
        services.GetRequiredService<ILogger<InstancePool<object>>>());

    public ValueTask<InstanceLease<object>> RentAsync(CancellationToken cancellationToken) => _pool.RentAsync(cancellationToken);
}
