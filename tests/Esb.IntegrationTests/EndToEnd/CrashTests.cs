using Esb.IntegrationTests.Storage;

namespace Esb.IntegrationTests.EndToEnd;

/// <summary>Messages that kill the process: the host dies the moment one of them reaches the outside.</summary>
[NonParallelizable]
public sealed class CrashTests
{
    private const int Messages = 200;
    private static readonly int[] Poisons = [40, 90, 140];

    [Test, Category("Faults"), CancelAfter(300_000), Property("Case", "T-POI-2")]
    public async Task Messages_that_kill_the_process_are_given_up_and_their_neighbours_go_on(CancellationToken cancellationToken)
    {
        await using var schema = await TestSchema.StartAsync();
        var folder = Directory.CreateTempSubdirectory("esb-crash-");
        var published = new TaskCompletionSource();
        var died = new TaskCompletionSource();
        var started = new TaskCompletionSource<HostProcess>(); // messages come before the host says that it is ready
        HostProcess? host = null;
        var deaths = 0;
        await using var backend = await OrderBackend.StartAsync(async (_, number) =>
        {
            await published.Task;
            if (!Poisons.Contains(number)) return 200;
            (await started.Task).Kill();
            died.TrySetResult();
            await Task.Delay(Timeout.Infinite, cancellationToken).ContinueWith(_ => { }, TaskScheduler.Default);
            return 500;
        });
        try
        {
            var configuration = await WriteAsync(folder, schema, backend.Url);
            host = await StartAsync(configuration, folder, cancellationToken);
            started.SetResult(host);
            await PublishAsync(host, cancellationToken);
            published.SetResult();
            while (true)
            {
                var ended = await Task.WhenAny(died.Task, DoneAsync(schema, backend, cancellationToken));
                await ended;
                if (ended != died.Task) break;
                deaths++;
                await host.DisposeAsync();
                (died, started) = (new TaskCompletionSource(), new TaskCompletionSource<HostProcess>());
                host = await StartAsync(configuration, folder, cancellationToken);
                started.SetResult(host);
            }

            var letters = await schema.QueryAsync<(string Code, byte[] Body)>("select code, body from dead_letter");
            TestContext.Out.WriteLine($"{Poisons.Length} poisons among {Messages} messages, prefetch 32: {deaths} deaths, {letters.Count} dead letters");
            Assert.Multiple(() =>
            {
                Assert.That(letters.Select(letter => letter.Code), Is.All.EqualTo("ESB-DELIVERY-CRASH"));
                Assert.That(letters.Select(letter => int.Parse(letter.Body, System.Globalization.CultureInfo.InvariantCulture)), Is.EquivalentTo(Poisons));
                Assert.That(deaths, Is.LessThanOrEqualTo(3 * Poisons.Length));
                Assert.That(backend.Applied.Select(applied => applied.Number).Distinct(), Has.Exactly(Messages - Poisons.Length).Items);
            });
        }
        finally
        {
            if (host is not null) await host.DisposeAsync();
            folder.Delete(recursive: true);
        }
    }

    private static async Task<string> WriteAsync(DirectoryInfo folder, TestSchema schema, Uri backend)
    {
        var configuration = Path.Combine(folder.FullName, "esb.json");
        await File.WriteAllTextAsync(
            configuration,
            $$"""
            {
              "name": "crash",
              "transport": { "type": "rabbitmq", "url": "${env:ESB_RABBITMQ}", "prefix": "crash{{folder.Name[^8..].Replace('_', '-')}}" },
              "store": { "type": "postgres", "connection": "{{schema.Config.Connection}}", "schema": "{{schema.Config.Schema}}" },
              "topics": { "orders": {} },
              "endpoints": {
                "door": { "type": "http-inbound", "path": "/orders", "publish": "orders.new" },
                "ledger": { "type": "http-outbound", "url": "{{backend.OriginalString}}", "subscribe": ["orders.#"], "processingThreads": 4, "poolSize": 4, "prefetch": 32 }
              }
            }
            """);
        return configuration;
    }

    private static Task<HostProcess> StartAsync(string configuration, DirectoryInfo folder, CancellationToken cancellationToken) =>
        HostProcess.StartAsync(configuration, folder.FullName, cancellationToken, new Dictionary<string, string> { ["ESB_RABBITMQ"] = Servers.RabbitMq });

    private static async Task PublishAsync(HostProcess host, CancellationToken cancellationToken)
    {
        for (var number = 1; number <= Messages; number++)
        {
            using var response = await host.PostAsync("/orders", $"{number}", "text/plain", cancellationToken);
            Assert.That((int)response.StatusCode, Is.EqualTo(202));
        }
    }

    private static async Task DoneAsync(TestSchema schema, OrderBackend backend, CancellationToken cancellationToken)
    {
        while (backend.Applied.Select(applied => applied.Number).Distinct().Count() < Messages - Poisons.Length
            || (await schema.QueryAsync<long>("select count(*) from dead_letter")).Single() < Poisons.Length)
        {
            await Task.Delay(200, cancellationToken);
        }
    }
}
