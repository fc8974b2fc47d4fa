using System.Diagnostics;
using System.Globalization;
using SideBySide.Reports;
using SideBySide.Scenarios;
using SideBySide.Servers;

namespace SideBySide.Topics;

/// <summary><c>loadtests/inserts</c>: many orders through one endpoint, and every one of them is looked for at the end.</summary>
internal sealed class InsertsCommand(TopicServers topics, EsbHost host, int count)
{
    private const string Prefix = "insert-many";
    private const int Chunk = 5_000;
    private const int MostWaiting = 20_000;

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    public static async Task<int> RunAsync(IReadOnlyList<string> arguments)
    {
        if (!int.TryParse(arguments.FirstOrDefault() ?? "5000000", CultureInfo.InvariantCulture, out var count) || count <= 0)
            return 2;
        var surroundings = Surroundings.FromEnvironment();
        await using var topics = await TopicServers.StartAsync(surroundings, new TestServers(surroundings), CancellationToken.None);
        await using var host = await topics.HostAsync(Prefix, [], CancellationToken.None);
        return await new InsertsCommand(topics, host, count).RunAsync(CancellationToken.None) ? 0 : 1;
    }

    private async Task<bool> RunAsync(CancellationToken cancellationToken)
    {
        var (time, bytes) = (host.ProcessorTime, await host.Probe.AllocatedBytesAsync(cancellationToken));
        for (var first = 1; first <= count; first += Chunk)
        {
            await topics.Publisher.PublishAsync(
                new Address($"{Prefix}.topics.orders", "orders.new"),
                "r1",
                first,
                Math.Min(first + Chunk - 1, count),
                cancellationToken
            );
            await WaitForRoomAsync(first + Chunk - 1 - MostWaiting, cancellationToken);
            if ((first - 1) % 100_000 == 0)
                Console.WriteLine(
                    FormattableString.Invariant($"{first + Chunk - 1:#,0} published, host {Figures.Bytes(host.MemoryBytes)}")
                );
        }

        await topics.Table.WaitAsync(count, cancellationToken);
        var flaw = await topics.Table.FlawAsync("r1", count, isOrdered: false, cancellationToken);
        var seconds = (await topics.Table.DurationAsync(cancellationToken)).TotalSeconds;
        var cpu = (host.ProcessorTime - time).TotalMicroseconds / count;
        var allocated = (await host.Probe.AllocatedBytesAsync(cancellationToken) - bytes) / (double)count;
        Console.WriteLine(
            flaw
                ?? string.Create(
                    CultureInfo.InvariantCulture,
                    $"{count:#,0} orders, none lost, changed or doubled: {Figures.Rate(count / seconds)}, "
                        + $"{Figures.Microseconds(cpu)} of CPU and {Figures.Bytes(allocated)} allocated per order, host "
                        + $"{Figures.Bytes(host.MemoryBytes)}"
                )
        );
        return flaw is null;
    }

    private async Task WaitForRoomAsync(int inserted, CancellationToken cancellationToken)
    {
        var (before, last) = (-1L, Stopwatch.GetTimestamp());
        while (await topics.Table.BegunAsync(cancellationToken) is var now && now < inserted)
        {
            if (now > before)
                (before, last) = (now, Stopwatch.GetTimestamp());
            if (Stopwatch.GetElapsedTime(last) > Patience)
                throw new NotRunException($"only {now} orders arrived");
            await Task.Delay(20, cancellationToken);
        }
    }
}
