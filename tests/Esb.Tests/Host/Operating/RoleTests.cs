using System.Text.Json.Nodes;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Topics;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Host.Operating;

/// <summary>A host runs the endpoints that its roles give it.</summary>
[CancelAfter(60_000)]
public sealed class RoleTests
{
    private DirectoryInfo _folder = null!;

    private string Path => System.IO.Path.Combine(_folder.FullName, "esb.json");

    [SetUp]
    public async Task WriteConfiguration()
    {
        _folder = Directory.CreateTempSubdirectory("esb-roles-");
        var configuration = RunningBus.Configuration(_folder.FullName);
        configuration["listeners"] = new JsonObject { ["public"] = new JsonObject { ["url"] = $"http://127.0.0.1:{FreePorts.Next()}" } };
        configuration["endpoints"]!["ledger"]!["roles"] = new JsonArray("deliver");
        configuration["endpoints"]!["shop"] = new JsonObject
        {
            ["type"] = "http-inbound",
            ["path"] = "/orders",
            ["publish"] = "orders.new",
            ["roles"] = new JsonArray("receive"),
        };
        configuration["endpoints"]!["all"] = new JsonObject
        {
            ["type"] = "file-outbound",
            ["subscribe"] = new JsonArray("orders.#"),
            ["folder"] = System.IO.Path.Combine(_folder.FullName, "all"),
            ["fileName"] = "{message.id}.json",
        };
        await File.WriteAllTextAsync(Path, configuration.ToJsonString());
    }

    [TearDown]
    public void DeleteFolder() => _folder.Delete(recursive: true);

    [TestCase("[\"receive\"]", "all shop")]
    [TestCase("[\"deliver\"]", "all ledger")]
    [TestCase("[\"receive\",\"deliver\"]", "all ledger shop")]
    [TestCase("[]", "all ledger shop")]
    public async Task Host_runs_the_endpoints_of_its_roles_and_those_without(
        string roles,
        string expected,
        CancellationToken cancellationToken
    )
    {
        await using var bus = await RunningBus.StartAsync(
            Path,
            cancellationToken,
            new Dictionary<string, string> { ["ESB__HOST__ROLES"] = roles }
        );

        var endpoints = bus.Services.GetServices<IEndpointMonitor>().SelectMany(monitor => monitor.Endpoints).ToList();
        var running = endpoints
            .Where(status => status.State == EndpointState.Running)
            .Select(status => status.Name)
            .Order(StringComparer.Ordinal);
        Assert.That(string.Join(' ', running), Is.EqualTo(expected));
        Assert.That(
            endpoints.Where(status => status.State == EndpointState.Disabled).Select(status => status.Reason),
            Is.All.StartsWith("runs on hosts with the role")
        );
    }

    [Test]
    public void Role_that_no_endpoint_has_is_refused_with_the_nearest_name() =>
        Assert.That(
            async () =>
                await RunningBus.StartAsync(
                    Path,
                    CancellationToken.None,
                    new Dictionary<string, string> { ["ESB__HOST__ROLES"] = "[\"recieve\"]" }
                ),
            Throws.TypeOf<ConfigurationRefusedException>().With.Message.Contains("ESB-CFG-ROLE").And.Message.Contains("\"receive\"")
        );
}
