using System.Text;
using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Ledgers;
using Esb.IntegrationTests.Faults.Load;
using Esb.IntegrationTests.Faults.Sinks;
using Esb.IntegrationTests.Transactions;
using RabbitMQ.Client;

namespace Esb.IntegrationTests.Faults.Scenarios;

/// <summary>The same comes twice, in every way that it can: it has one effect, and each copy is flagged.</summary>
[NonParallelizable, Category("Paced")]
public sealed class DuplicateTests
{
    private const string Intake = "intake";

    [Test, Category("Faults"), CancelAfter(300_000), Property("Case", "T-DUP-1")]
    public async Task Requests_that_are_sent_again_have_one_effect_and_a_flag_each(CancellationToken cancellationToken)
    {
        const int Messages = 4_500,
            Resends = 500;
        await using var bench = await StartAsync("T-DUP-1", SinkPromises.Once, cancellationToken);
        using var sender = new HttpSender();
        var random = new Random(FaultBench.Seed);
        var chosen = Enumerable.Range(1, Messages).OrderBy(_ => random.Next()).Take(Resends).ToHashSet();

        // A third at the same moment, a third soon after, a third after every host was killed and started again.
        await Parallel.ForEachAsync(
            Enumerable.Range(1, Messages),
            new ParallelOptions { MaxDegreeOfParallelism = 16, CancellationToken = cancellationToken },
            async (number, token) =>
            {
                var copies = chosen.Contains(number) && number % 3 == 0 ? 2 : 1;
                await Task.WhenAll(Enumerable.Range(0, copies).Select(copy => SendAsync(bench, sender, number, copy, token)));
                if (chosen.Contains(number) && number % 3 == 1)
                    await SendAsync(bench, sender, number, 1, token);
            }
        );
        foreach (var host in bench.Farm.Hosts)
            await host.KillAsync();
        await bench.Farm.StartAsync(cancellationToken);
        foreach (var number in chosen.Where(number => number % 3 == 2))
            await SendAsync(bench, sender, number, 1, cancellationToken);
        var verdicts = await bench.SettleAsync(cancellationToken);

        var flags = await bench.Records.CountDuplicatesAsync(Intake, cancellationToken);
        bench.Conclude(
            verdicts,
            $"{Messages:N0} and {Resends} resends with their Idempotency-Key: at once, soon, after kill -9 of both hosts",
            $"{flags} flagged at the intake"
        );
        Assert.That((verdicts[0].Unique, verdicts[0].Delivered, flags), Is.EqualTo((Messages, Messages, Resends)));
    }

    [Test, Category("Faults"), CancelAfter(300_000), Property("Case", "T-DUP-2")]
    public async Task Message_that_is_delivered_to_two_hosts_has_one_effect(CancellationToken cancellationToken)
    {
        const int Messages = 1_000;
        await using var bench = await StartAsync("T-DUP-2", SinkPromises.Once | SinkPromises.Flagged, cancellationToken);

        await PublishAsync(bench, Messages, copies: 2, cancellationToken);
        var verdicts = await bench.SettleAsync(cancellationToken, evidence => evidence with { ForcedDuplicates = Messages });

        bench.Conclude(verdicts, $"{Messages:N0}, each published twice at once with the same id, 2 hosts");
        Assert.That(verdicts[0].Delivered, Is.EqualTo(Messages));
    }

    [Test, Category("Faults"), CancelAfter(300_000), Property("Case", "T-DUP-2")]
    public async Task Deliveries_that_are_cut_off_and_come_again_have_one_effect(CancellationToken cancellationToken)
    {
        await using var bench = await StartAsync("T-DUP-2 (disconnects)", SinkPromises.Once, cancellationToken);
        var nemesis = FaultBench
            .NewNemesis()
            .Track(
                0.3,
                1.5,
                (
                    Nemeses.Fault.Moment(
                        "connections closed",
                        () => bench.Servers.ControlRabbitMqAsync("close_all_connections", "nemesis")
                    ),
                    15
                )
            );

        var accepted = await bench.RunAsync(
            new LoadPlan
            {
                Messages = 3_000,
                Rate = 200,
                LargestBody = 4_096,
            },
            nemesis,
            cancellationToken
        );
        var verdicts = await bench.SettleAsync(cancellationToken);

        bench.Conclude(verdicts, $"{accepted:N0}, 200/s; every connection to the broker closed × 15");
    }

    [Test, Category("Faults"), CancelAfter(300_000), Property("Case", "T-DUP-3")]
    public async Task Same_key_with_another_body_is_a_conflict_and_the_first_one_counts(CancellationToken cancellationToken)
    {
        const int Messages = 100;
        await using var bench = await StartAsync("T-DUP-3", SinkPromises.Once, cancellationToken);
        using var client = new HttpClient();
        using var sender = new HttpSender();
        var conflicts = 0;

        for (var number = 1; number <= Messages; number++)
        {
            await SendAsync(bench, sender, number, 0, cancellationToken);
            using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(bench.Farm.Hosts[number % 2].Public, "/work"))
            {
                Content = new StringContent("another body"),
            };
            request.Headers.Add("Idempotency-Key", $"key-{number}");
            using var response = await client.SendAsync(request, cancellationToken);
            if ((int)response.StatusCode == 422)
                conflicts++;
        }

        var verdicts = await bench.SettleAsync(cancellationToken);

        bench.Conclude(verdicts, $"{Messages}, each followed by another body under the same key", $"{conflicts} conflicts");
        Assert.That((conflicts, verdicts[0].Delivered), Is.EqualTo((Messages, Messages)));
    }

    [TestCase("7 days -1 minutes", true)]
    [TestCase("7 days 1 minutes", false)]
    [Category("Faults"), CancelAfter(300_000), Property("Case", "T-DUP-4")]
    public async Task Message_that_comes_again_is_recognised_for_seven_days_and_not_longer(
        string age,
        bool isRecognised,
        CancellationToken cancellationToken
    )
    {
        const int Messages = 1_000;
        var promises = isRecognised ? SinkPromises.Once | SinkPromises.Flagged : SinkPromises.Flagged;
        await using var bench = await StartAsync("T-DUP-4", promises, cancellationToken);
        await PublishAsync(bench, Messages, copies: 1, cancellationToken);
        await bench.SettleAsync(cancellationToken);
        await bench.Database.QueryAsync<int>(BusTablesProbe.MakePartition("endpoint_inbox", age), null, cancellationToken);
        await bench.Database.QueryAsync<int>(
            $"update esb.endpoint_inbox set applied_at = applied_at - interval '{age}'",
            null,
            cancellationToken
        );

        await RepublishAsync(bench, cancellationToken);
        await bench.WaitForEmptyQueuesAsync(cancellationToken);
        var verdicts = await bench.SettleAsync(
            cancellationToken,
            evidence => evidence with { ForcedDuplicates = isRecognised ? Messages : 0 }
        );

        bench.Conclude(
            verdicts,
            $"{Messages:N0}, each once more after {age}, 2 hosts",
            isRecognised ? "inside the window" : "beyond the window: each is applied again"
        );
        Assert.That((verdicts[0].Unique, verdicts[0].Delivered), Is.EqualTo((Messages, isRecognised ? Messages : 2 * Messages)));
    }

    private static Task<FaultBench> StartAsync(string name, SinkPromises promises, CancellationToken cancellationToken) =>
        FaultBench.StartAsync(
            new BenchPlan
            {
                Case = name,
                Sinks = async (database, _) => [await SqlSink.CreateAsync("effects", database, promises, BenchConfiguration.Parallel())],
                Configure = configuration => configuration["endpoints"]!["effects"]!["once"] = true,
            },
            cancellationToken
        );

    // Until it is answered: while the first copy is worked on, the second is told to come back.
    private static async Task SendAsync(FaultBench bench, HttpSender sender, int number, int copy, CancellationToken cancellationToken)
    {
        var id = $"k{number}-1";
        var body = FaultBody.Make(id, 1_024, new Random(number));
        var message = new SentMessage(id, $"k{number}", 1, "work.item", FaultBody.HashOf(body), TimeProvider.System.GetUtcNow());
        if (copy == 0)
            await bench.Ledger.BeginAsync(message);
        while (true)
        {
            var host = bench.Farm.Hosts[(number + copy) % bench.Farm.Hosts.Count];
            var (outcome, messageId) = await sender.SendAsync(
                new Uri(host.Public, "/work"),
                message,
                body,
                cancellationToken,
                idempotencyKey: $"key-{number}"
            );
            if (outcome == SendOutcome.Confirmed)
            {
                await bench.Ledger.EndAsync(
                    message with
                    {
                        Outcome = outcome,
                        MessageId = messageId,
                        OutcomeAt = TimeProvider.System.GetUtcNow(),
                    }
                );
                return;
            }

            await Task.Delay(100, cancellationToken);
        }
    }

    // Past the intake, as any client of the broker may.
    private static async Task PublishAsync(FaultBench bench, int messages, int copies, CancellationToken cancellationToken)
    {
        await using var connection = await bench.ConnectToBrokerAsync();
        await using var channel = await connection.CreateChannelAsync(new CreateChannelOptions(true, true), cancellationToken);
        for (var number = 1; number <= messages; number++)
        {
            var (id, messageId) = ($"k{number}-1", Guid.CreateVersion7());
            var message = new SentMessage(id, $"k{number}", 1, "work.item", FaultBody.HashOf(BodyOf(id)), TimeProvider.System.GetUtcNow())
            {
                MessageId = messageId,
            };
            await bench.Ledger.BeginAsync(message);
            await Task.WhenAll(Enumerable.Range(0, copies).Select(_ => PublishAsync(bench, channel, message, cancellationToken)));
            await bench.Ledger.EndAsync(message with { Outcome = SendOutcome.Confirmed, OutcomeAt = TimeProvider.System.GetUtcNow() });
        }
    }

    private static async Task RepublishAsync(FaultBench bench, CancellationToken cancellationToken)
    {
        await using var connection = await bench.ConnectToBrokerAsync();
        await using var channel = await connection.CreateChannelAsync(new CreateChannelOptions(true, true), cancellationToken);
        foreach (var message in bench.Ledger.Messages)
            await PublishAsync(bench, channel, message, cancellationToken);
    }

    private static async Task PublishAsync(FaultBench bench, IChannel channel, SentMessage message, CancellationToken cancellationToken)
    {
        var headers = new Dictionary<string, object?> { [FaultHeaders.Id] = message.Id };
        var properties = new BasicProperties
        {
            MessageId = $"{message.MessageId}",
            ContentType = "text/plain",
            Persistent = true,
            Headers = headers,
        };
        await channel.BasicPublishAsync(
            $"{bench.Name}.topics.work",
            "work.item",
            mandatory: true,
            properties,
            Encoding.UTF8.GetBytes(BodyOf(message.Id)),
            cancellationToken
        );
    }

    private static string BodyOf(string id) => FaultBody.Make(id, 1_024, new Random(id.GetHashCode(StringComparison.Ordinal)));
}
