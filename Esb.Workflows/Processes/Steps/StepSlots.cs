using Esb.Core.Configuration.Settings;
using Esb.Core.Pooling;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Esb.Workflows.Processes.Steps;

/// <summary>Settings of steps with a limit on concurrent runs.</summary>
internal abstract record PooledStepConfig : SettingsRecord
{
    [Setting("How often the step may run at once on a host.", Range = "1..1000")]
    public int MaximumInstances { get; init; } = 50;

    [Setting("How long a message waits for its turn before it fails.", Range = "1ms..1h")]
    public TimeSpan PoolTimeout { get; init; } = TimeSpan.FromSeconds(60);
}

/// <summary>The slots of a stateless step: like an instance pool, with a time-out and a warning.</summary>
internal sealed class StepSlots(string owner, PooledStepConfig settings, IServiceProvider services)
{
    private readonly InstancePool<object> _pool = new(
        owner,
        static () => new object(),
        new PoolLimits(settings.MaximumInstances, settings.PoolTimeout),
        services.GetRequiredService<TimeProvider>(),
        services.GetRequiredService<ILogger<InstancePool<object>>>()
    );

    public ValueTask<InstanceLease<object>> RentAsync(CancellationToken cancellationToken) => _pool.RentAsync(cancellationToken);
}
