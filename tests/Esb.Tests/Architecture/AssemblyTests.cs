using System.Reflection;

namespace Esb.Tests.Architecture;

/// <summary>The arrows between our assemblies, as the documents draw them.</summary>
public sealed class AssemblyTests
{
    private static readonly Dictionary<string, string[]> Allowed = new()
    {
        ["Esb.Core"] = [],
        ["Esb.Configuration"] = ["Esb.Core"],
        ["Esb.Content"] = ["Esb.Core", "Esb.Configuration"],
        ["Esb.Topics"] = ["Esb.Core", "Esb.Configuration"],
        ["Esb.Delivery"] = ["Esb.Core", "Esb.Configuration", "Esb.Content"],
        ["Esb.Endpoints"] = ["Esb.Core", "Esb.Configuration", "Esb.Content", "Esb.Delivery"],
        ["Esb.Workflows"] = ["Esb.Core", "Esb.Configuration", "Esb.Content"],
        ["Esb.Audit"] = ["Esb.Core", "Esb.Configuration", "Esb.Content"],
        ["Esb.Storage"] = ["Esb.Core", "Esb.Configuration"],
        ["esb"] =
        [
            "Esb.Core",
            "Esb.Configuration",
            "Esb.Content",
            "Esb.Topics",
            "Esb.Delivery",
            "Esb.Endpoints",
            "Esb.Workflows",
            "Esb.Audit",
            "Esb.Storage",
        ],
    };

    // What the vocabulary must never know: brokers, databases, web servers.
    private static readonly string[] Foreign =
    [
        "RabbitMQ",
        "MassTransit",
        "Npgsql",
        "Dapper",
        "System.Data",
        "Microsoft.AspNetCore",
        "System.Net.Http",
    ];

    public static IEnumerable<string> Assemblies => Allowed.Keys;

    [Test]
    [TestCaseSource(nameof(Assemblies))]
    public void An_assembly_references_only_what_it_may(string name)
    {
        var references = References(name).Where(Allowed.ContainsKey);

        Assert.That(references, Is.SubsetOf(Allowed[name]));
    }

    [Test]
    public void The_core_knows_no_broker_no_database_and_no_web_server() =>
        Assert.That(
            References("Esb.Core").Where(reference => Foreign.Any(foreign => reference.StartsWith(foreign, StringComparison.Ordinal))),
            Is.Empty
        );

    [Test]
    public void Every_assembly_of_ours_is_drawn()
    {
        var ours = Directory
            .GetFiles(TestContext.CurrentContext.TestDirectory, "*.dll")
            .Select(file => Path.GetFileNameWithoutExtension(file))
            .Where(name => name.StartsWith("esb", StringComparison.OrdinalIgnoreCase) && name is not ("Esb.Tests" or "Esb.Benchmarks"));

        Assert.That(ours, Is.EquivalentTo(Allowed.Keys));
    }

    private static IEnumerable<string> References(string name) =>
        Assembly.Load(name).GetReferencedAssemblies().Select(reference => reference.Name!);
}
