using System.Reflection;
using Microsoft.Extensions.Logging;

namespace Esb.Tests.Architecture;

public sealed class LogMethodTests
{
    // Where the event ids of a namespace begin, and end.
    private static readonly (string Namespace, int From, int To)[] Ranges =
    [
        ("Esb.Core", 1000, 1099),
        ("Esb.Configuration", 1100, 1399),
        ("Esb.Content", 1400, 1499),
        ("Esb.Topics", 1500, 1999),
        ("Esb.Endpoints.Http", 2100, 2199),
        ("Esb.Endpoints.Files", 2200, 2299),
        ("Esb.Endpoints.Sql", 2300, 2399),
        ("Esb.Endpoints", 2000, 2399),
        ("Esb.Delivery.Intake", 2500, 2599),
        ("Esb.Delivery.Replay", 2600, 2699),
        ("Esb.Delivery", 2400, 2699),
        ("Esb.Workflows", 3000, 3999),
        ("Esb.Audit", 4000, 4499),
        ("Esb.Storage", 4500, 4999),
        ("Esb.Host", 5000, 5999),
    ];

    private static readonly IReadOnlyList<(MethodInfo Method, LoggerMessageAttribute Log)> All =
    [
        .. AssemblyTests
            .Assemblies.Select(Assembly.Load)
            .SelectMany(assembly => assembly.GetTypes())
            .SelectMany(type =>
                type.GetMethods(
                    BindingFlags.Instance | BindingFlags.Static | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly
                )
            )
            .Select(method => (method, log: method.GetCustomAttribute<LoggerMessageAttribute>()))
            .Where(found => found.log is not null)
            .Select(found => (found.method, found.log!)),
    ];

    [Test]
    public void Log_methods_are_found() => Assert.That(All.Select(found => found.Log.EventId), Does.Contain(1001), "the pool's warning");

    [Test]
    public void Event_ids_are_unique()
    {
        var twins = All.GroupBy(found => found.Log.EventId)
            .Where(group => group.Count() > 1)
            .Select(group => $"{group.Key}: {string.Join(" and ", group.Select(found => NameOf(found.Method)))}");

        Assert.That(twins, Is.Empty);
    }

    [Test]
    public void Event_ids_are_of_the_range_of_their_assembly()
    {
        var strays = All.Where(found => !IsInRange(found.Method, found.Log.EventId))
            .Select(found => $"{found.Log.EventId}: {NameOf(found.Method)}");

        Assert.That(strays, Is.Empty);
    }

    private static bool IsInRange(MethodInfo method, int eventId)
    {
        var place = method.DeclaringType!.Namespace!;
        var range = Ranges.First(range => place == range.Namespace || place.StartsWith($"{range.Namespace}.", StringComparison.Ordinal));
        return eventId >= range.From && eventId <= range.To;
    }

    private static string NameOf(MethodInfo method) => $"{method.DeclaringType!.FullName}.{method.Name}";
}
