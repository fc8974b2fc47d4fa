using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd.Operating;

/// <summary>A host that is told to work on the threads that wait for sockets does not: a client of a database would wait there for
/// itself (ADR 21).</summary>
[CancelAfter(120_000)]
public sealed class SocketThreadTests
{
    private const string Variable = "DOTNET_SYSTEM_NET_SOCKETS_INLINE_COMPLETIONS";

    private readonly string _prefix = $"test-{Guid.NewGuid():N}";
    private DirectoryInfo _folder = null!;
    private OrderSink _shop = null!;

    [SetUp]
    public async Task StartShop() => (_folder, _shop) = (Directory.CreateTempSubdirectory("esb-sockets-"), await OrderSink.StartAsync());

    [TearDown]
    public async Task StopShop()
    {
        await _shop.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test]
    public async Task Host_that_is_told_to_work_on_the_threads_of_sockets_does_not_and_says_so(CancellationToken cancellationToken)
    {
        await using var host = await StartAsync(cancellationToken);

        using var accepted = await host.PostAsync("/orders", """{ "order": "A-1001" }""", "application/json", cancellationToken);
        var id = accepted.Headers.GetValues("Esb-Message-Id").Single();
        var kinds = new List<string?>();
        await host.WaitAsync(
            async token => (kinds = await KindsAsync(host, id, token)).Contains("delivered"),
            TimeSpan.FromSeconds(30),
            "to deliver",
            cancellationToken
        );
        for (var round = 0; round < 20; round++)
            Assert.That(await KindsAsync(host, id, cancellationToken), Is.EqualTo(kinds));

        Assert.That(await host.IsReadyAsync(cancellationToken), Is.True);
        Assert.That(host.Output, Does.Contain($"warning: {Variable}=1 is not used"));
        if (Environment.ProcessorCount > 1) // with the setting there would be one for each processor
            Assert.That(SocketThreadsOf(host), Is.InRange(1, Environment.ProcessorCount - 1));
        Assert.That(await host.StopAsync(cancellationToken), Is.Zero, host.Output);
    }

    private static int SocketThreadsOf(HostProcess host) =>
        Directory.GetDirectories($"/proc/{host.Id}/task").Count(thread => File.ReadAllText($"{thread}/comm").Trim() == ".NET Sockets");

    private static async Task<List<string?>> KindsAsync(HostProcess host, string id, CancellationToken cancellationToken) =>
        await host.FindAsync($"/api/messages/{id}", cancellationToken) is { } journey
            ? [.. journey.GetProperty("items").EnumerateArray().Select(fact => fact.GetProperty("kind").GetString())]
            : [];

    private async Task<HostProcess> StartAsync(CancellationToken cancellationToken)
    {
        var configuration = Path.Combine(_folder.FullName, "esb.json");
        await File.WriteAllTextAsync(
            configuration,
            $$"""
            { "name": "sockets",
              "transport": { "type": "rabbitmq", "url": "${env:ESB_RABBITMQ}", "prefix": "{{_prefix}}" },
              "store": { "type": "postgres", "connection": "${env:ESB_POSTGRES}", "schema": "{{_prefix.Replace('-', '_')}}" },
              "topics": { "orders": {} },
              "endpoints": {
                "orders-in": { "type": "http-inbound", "path": "/orders", "publish": "orders.new" },
                "shop": { "type": "http-outbound", "subscribe": ["orders.#"], "url": "{{_shop.Url}}" } } }
            """,
            cancellationToken
        );
        return await HostProcess.StartAsync(
            configuration,
            _folder.FullName,
            cancellationToken,
            new Dictionary<string, string>
            {
                ["ESB_RABBITMQ"] = Servers.RabbitMq,
                ["ESB_POSTGRES"] = Servers.Postgres,
                [Variable] = "1",
            }
        );
    }
}
