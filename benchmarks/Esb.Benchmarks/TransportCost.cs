using System.Diagnostics;
using System.Globalization;
using Esb.Configuration;
using Esb.Core.Messages;
using Esb.Core.Topics;
using Esb.Storage;
using Esb.Topics.ClaimChecks;
using Esb.Topics.RabbitMq;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Benchmarks;

/// <summary>What the transport itself costs for each message on the broker in ESB_RABBITMQ: publishes confirmed, and deliveries to a
/// handler that does nothing. <c>dotnet run -- transport-cost [ROUNDS]</c></summary>
internal static class TransportCost
{
    private const int Messages = 20_000;
    private const int InFlight = 400;

    private static readonly Dictionary<string, TopicConfig> Topics = new() { ["cost"] = new() };

    public static async Task RunAsync(int rounds)
    {
        for (var round = 0; round <= rounds; round++)
        {
            var isWarm = round > 0;
            foreach (var concurrency in new[] { 1, 8, 30 })
                await RunAsync(concurrency, isWarm);
        }
    }

    private static async Task RunAsync(int concurrency, bool isShown)
    {
        var url = Environment.GetEnvironmentVariable("ESB_RABBITMQ") ?? "amqp://guest:guest@127.0.0.1:5672";
        var config = new RabbitMqTransportConfig { Url = url, Prefix = "esb-cost" };
        await using var transport = new RabbitMqTransport(
            config,
            "cost",
            Topics,
            [],
            new LimitsConfig(),
            new NoClaimCheckStore(),
            Esb.Topics.Farm.FarmKeys.None,
            TimeProvider.System,
            NullLoggerFactory.Instance
        );
        await transport.StartAsync(CancellationToken.None);
        var done = new SemaphoreSlim(0);
        var count = 0;
        var queue = new QueueConfig { Type = QueueType.Classic };
        var subscription = new Subscription(
            $"cost-{concurrency}",
            [SubjectPattern.Parse("cost.#")!],
            concurrency,
            Math.Max(32, 2 * concurrency),
            SingleActive: false,
            queue,
            []
        );
        await using var receiving = await transport.SubscribeAsync(subscription, HandleAsync, CancellationToken.None);
        await receiving.TuneAsync(concurrency, subscription.Prefetch, isPaused: true, CancellationToken.None);

        await MeasureAsync(
            "publish",
            concurrency,
            isShown,
            () => Task.WhenAll(Enumerable.Range(0, InFlight).Select(_ => PublishAsync(transport)))
        );
        await MeasureAsync(
            "consume",
            concurrency,
            isShown,
            async () =>
            {
                await receiving.TuneAsync(concurrency, subscription.Prefetch, isPaused: false, CancellationToken.None);
                await done.WaitAsync();
            }
        );

        async ValueTask<Settlement> HandleAsync(TopicDelivery delivery, CancellationToken cancellationToken)
        {
            await Task.Yield(); // no real one answers at once
            if (Interlocked.Increment(ref count) == Messages)
                done.Release();
            return Settlement.Done;
        }
    }

    private static async Task PublishAsync(RabbitMqTransport transport)
    {
        var body = new byte[1024];
        for (var i = 0; i < Messages / InFlight; i++)
        {
            var message = EsbMessage.Create(MessageBody.FromBytes(body), TimeProvider.System) with { Subject = "cost.one" };
            if ((await transport.PublishAsync(message, CancellationToken.None)).Outcome != PublishOutcome.Confirmed)
                throw new InvalidOperationException("not confirmed");
        }
    }

    private static async Task MeasureAsync(string what, int concurrency, bool isShown, Func<Task> work)
    {
        using var process = Process.GetCurrentProcess();
        var (cpu, bytes, started) = (process.TotalProcessorTime, GC.GetTotalAllocatedBytes(), Stopwatch.GetTimestamp());
        await work();
        var elapsed = Stopwatch.GetElapsedTime(started);
        process.Refresh();
        if (!isShown)
            return;
        Console.WriteLine(
            string.Create(
                CultureInfo.InvariantCulture,
                $"{what} {concurrency, 2}: {Messages / elapsed.TotalSeconds, 7:0}/s "
                    + $"{(process.TotalProcessorTime - cpu).TotalMicroseconds / Messages, 6:0.0} us CPU "
                    + $"{(GC.GetTotalAllocatedBytes() - bytes) / Messages, 6} bytes"
            )
        );
    }
}
