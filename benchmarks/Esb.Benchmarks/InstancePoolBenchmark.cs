using BenchmarkDotNet.Attributes;
using Esb.Core.Pooling;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Benchmarks;

/// <summary>What renting an instance costs beside a semaphore that only counts.</summary>
[MemoryDiagnoser]
public class InstancePoolBenchmark
{
    private readonly SemaphoreSlim _semaphore = new(100);

    private readonly InstancePool<object> _pool = new(
        "benchmark",
        static () => new object(),
        new PoolLimits(100, TimeSpan.FromSeconds(60)),
        TimeProvider.System,
        NullLogger.Instance
    );

    [Benchmark(Baseline = true)]
    public async Task Semaphore()
    {
        await _semaphore.WaitAsync();
        _semaphore.Release();
    }

    [Benchmark]
    public async Task Pool()
    {
        using var lease = await _pool.RentAsync(CancellationToken.None);
    }
}
