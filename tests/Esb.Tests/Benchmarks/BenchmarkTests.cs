using System.Reflection;
using BenchmarkDotNet.Attributes;
using Esb.Benchmarks;

namespace Esb.Tests.Benchmarks;

/// <summary>Every benchmark still runs, once for each combination of its parameters: nobody sees one rot that is run once a
/// month.</summary>
public sealed class BenchmarkTests
{
    public static IEnumerable<Type> Classes =>
        typeof(MessageCopyBenchmark).Assembly.GetTypes().Where(type => !type.IsAbstract && Methods<BenchmarkAttribute>(type).Any());

    [TestCaseSource(nameof(Classes))]
    [CancelAfter(60_000)]
    public async Task A_benchmark_runs_with_all_its_parameters(Type type, CancellationToken cancellationToken)
    {
        var runs = 0;
        foreach (var parameters in Combinations([.. type.GetProperties().Where(property => property.IsDefined(typeof(ParamsAttribute)))]))
        {
            var benchmark = Activator.CreateInstance(type)!;
            foreach (var (property, value) in parameters)
                property.SetValue(benchmark, value);
            await RunAsync<GlobalSetupAttribute>(benchmark, cancellationToken);
            runs += await RunAsync<BenchmarkAttribute>(benchmark, cancellationToken);
            await RunAsync<GlobalCleanupAttribute>(benchmark, cancellationToken);
        }

        Assert.That(runs, Is.GreaterThan(1), "a baseline and what is compared with it");
    }

    [TestCaseSource(nameof(Classes))]
    public void A_benchmark_is_compared_with_one_baseline(Type type) =>
        Assert.That(
            Methods<BenchmarkAttribute>(type).Count(method => method.GetCustomAttribute<BenchmarkAttribute>()!.Baseline),
            Is.EqualTo(1)
        );

    [TestCaseSource(nameof(Classes))]
    public void A_benchmark_counts_the_bytes_it_allocates(Type type) =>
        Assert.That(type.IsDefined(typeof(MemoryDiagnoserAttribute)), Is.True);

    private static async Task<int> RunAsync<TAttribute>(object benchmark, CancellationToken cancellationToken)
        where TAttribute : Attribute
    {
        var methods = Methods<TAttribute>(benchmark.GetType()).ToList();
        foreach (var method in methods)
        {
            var task = method.Invoke(benchmark, null) switch
            {
                Task asynchronous => asynchronous,
                ValueTask asynchronous => asynchronous.AsTask(),
                _ => Task.CompletedTask,
            };
            await task.WaitAsync(cancellationToken);
        }

        return methods.Count;
    }

    private static IEnumerable<MethodInfo> Methods<TAttribute>(Type type)
        where TAttribute : Attribute => type.GetMethods().Where(method => method.IsDefined(typeof(TAttribute)));

    private static IEnumerable<(PropertyInfo Property, object? Value)[]> Combinations(PropertyInfo[] properties) =>
        properties.Aggregate(
            (IEnumerable<(PropertyInfo, object?)[]>)
                [
                    [],
                ],
            (combinations, property) =>
                combinations.SelectMany(
                    _ => property.GetCustomAttribute<ParamsAttribute>()!.Values,
                    (combination, value) => ((PropertyInfo, object?)[])[.. combination, (property, value)]
                )
        );
}
