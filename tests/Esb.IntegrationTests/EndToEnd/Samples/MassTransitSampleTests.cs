using System.Diagnostics;
using System.Net;
using System.Text.Json;
using Esb.IntegrationTests.EndToEnd.Hosts;
using RabbitMQ.Client;

namespace Esb.IntegrationTests.EndToEnd.Samples;

/// <summary>An application written with MassTransit, which nothing of the product references, beside a host: events, requests and faults in
/// both directions, and nothing lost over a kill.</summary>
[CancelAfter(300_000)]
[OwnProcess]
public sealed class MassTransitSampleTests
{
    private static readonly string Sample = Repository.PathOf("samples", "masstransit");

    private readonly string _name = $"shop-{Guid.NewGuid().ToString("N")[..8]}";
    private DirectoryInfo _folder = null!;
    private ShopApplication _shop = null!;
    private RunningHost _host = null!;

    [OneTimeSetUp]
    public async Task StartApplication()
    {
        _folder = Directory.CreateTempSubdirectory("esb-masstransit-");
        File.Copy(Path.Combine(Sample, "esb.json"), Path.Combine(_folder.FullName, "esb.json"));
        var program = Path.Combine(_folder.FullName, "shop");
        await DotnetAsync("publish", Path.Combine(Sample, "Shop"), "-c", "Release", "-o", program, "-v", "quiet");
        _shop = await ShopApplication.StartAsync(Path.Combine(program, "Shop.dll"), Servers.RabbitMq, CancellationToken.None);
        await StartHostAsync(CancellationToken.None);
    }

    [OneTimeTearDown]
    public async Task StopApplication()
    {
        if (_host is not null)
            await _host.DisposeAsync();
        if (_shop is not null)
            await _shop.DisposeAsync();
        await ForgetAsync();
        _folder.Delete(recursive: true);
    }

    [Test, Order(1)]
    public async Task Events_flow_both_ways_and_sagas_come_to_their_end(CancellationToken cancellationToken)
    {
        await _shop.TellAsync("orders 20", cancellationToken, "published 20");

        var report = await _shop.WaitForReportAsync(text => text.EndsWith("completed 20", StringComparison.Ordinal), cancellationToken);
        await _host.WaitAsync(_ => Task.FromResult(Completed() == 20), TimeSpan.FromSeconds(60), "to hear of all ends", cancellationToken);

        Assert.That(report, Is.EqualTo("packed 20, copies 0, under other ids 0, with header and conversation 20, completed 20"));
    }

    [Test]
    public async Task Request_client_gets_its_typed_answer_and_its_fault(CancellationToken cancellationToken)
    {
        var known = await _shop.TellAsync("price A-1", cancellationToken, "price ", "fault ");
        var unknown = await _shop.TellAsync("price B-1", cancellationToken, "price ", "fault ");

        Assert.That((known, unknown), Is.EqualTo(("price A-1 9.95", "fault SHOP-NOARTICLE There is no such article.")));
    }

    [Test]
    public async Task Call_gets_the_answer_of_a_consumer_and_its_fault(CancellationToken cancellationToken)
    {
        using var known = await _host.PostAsync("/stock", """{"sku":"A-7"}""", "application/json", cancellationToken);
        using var unknown = await _host.PostAsync("/stock", """{"sku":"B-7"}""", "application/json", cancellationToken);

        var (stock, fault) = (
            await known.Content.ReadAsStringAsync(cancellationToken),
            await unknown.Content.ReadAsStringAsync(cancellationToken)
        );
        Assert.That(
            (known.StatusCode, unknown.StatusCode),
            Is.EqualTo((HttpStatusCode.OK, HttpStatusCode.BadGateway)),
            $"{stock}\n{fault}\n{_host.Output}"
        );
        Assert.That(JsonDocument.Parse(stock).RootElement.GetProperty("pieces").GetInt32(), Is.EqualTo(12));
        Assert.That(JsonDocument.Parse(fault).RootElement.GetProperty("code").GetString(), Is.EqualTo("ESB-MT-FAULT"));
    }

    [Test, Order(2), Category("Faults")]
    public async Task Nothing_is_lost_over_a_kill_and_what_comes_twice_has_the_same_id(CancellationToken cancellationToken)
    {
        const int orders = 2_000;
        var before = Number(await _shop.TellAsync("report", cancellationToken, "packed "), "completed");

        await _shop.TellAsync($"orders {orders}", cancellationToken, $"published {orders}");
        await _shop.WaitForReportAsync(text => Number(text, "packed") > before + (orders / 10), cancellationToken);
        var atKill = Number(await _shop.TellAsync("report", cancellationToken, "packed "), "packed");
        _host.Kill();
        await _host.DisposeAsync();
        await StartHostAsync(cancellationToken);

        var report = await _shop.WaitForReportAsync(text => Number(text, "completed") >= before + orders, cancellationToken);
        await _host.WaitAsync(
            _ => Task.FromResult(Completed() >= before + orders),
            TimeSpan.FromSeconds(90),
            "to hear of all ends",
            cancellationToken
        );

        Assert.That(atKill, Is.LessThan(before + orders), "it was killed in the middle");
        Assert.That((Number(report, "packed"), Number(report, "under other ids")), Is.EqualTo((before + orders, 0)), report);
        TestContext.Out.WriteLine($"killed at {atKill - before} of {orders}: {report}");
    }

    private static int Number(string report, string name) =>
        int.Parse(report.Split(", ").Single(part => part.StartsWith(name, StringComparison.Ordinal))[(name.Length + 1)..]);

    private int Completed() =>
        Directory.Exists(Path.Combine(_folder.FullName, "completed"))
            ? Directory.GetFiles(Path.Combine(_folder.FullName, "completed"), "*.json").Length
            : 0;

    private async Task StartHostAsync(CancellationToken cancellationToken) =>
        _host = await RunningHost.StartAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            _folder.CreateSubdirectory("host").FullName,
            cancellationToken,
            new Dictionary<string, string>
            {
                ["ESB_RABBITMQ"] = Servers.RabbitMq,
                ["ESB__NAME"] = _name,
                ["ESB__TRANSPORT__PREFIX"] = _name,
            }
        );

    // What both leave at a broker that others use too.
    private async Task ForgetAsync()
    {
        await using var connection = await new ConnectionFactory { Uri = new Uri(Servers.RabbitMq) }.CreateConnectionAsync();
        await using var channel = await connection.CreateChannelAsync();
        foreach (
            var endpoint in new[]
            {
                $"esb-{_name}-accepted",
                $"esb-{_name}-completed",
                $"esb-{_name}-prices",
                "packed",
                "stock",
                "order-state",
            }
        )
        {
            await channel.QueueDeleteAsync(endpoint);
            await channel.ExchangeDeleteAsync(endpoint);
        }
    }

    private static async Task DotnetAsync(params string[] arguments)
    {
        var start = new ProcessStartInfo("dotnet", arguments) { RedirectStandardOutput = true, RedirectStandardError = true };
        using var process = Process.Start(start)!;
        var output = await process.StandardOutput.ReadToEndAsync();
        await process.WaitForExitAsync();
        Assert.That(process.ExitCode, Is.Zero, output);
    }
}
