using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.Adapters;

/// <summary>Many items that wait when an endpoint begins are taken in bounded memory of its host.</summary>
/// <typeparam name="TSystem">The adapter and its system.</typeparam>
[TestFixture(typeof(SqlInboundSystem), 100_000)]
[TestFixture(typeof(FileInboundSystem), 100_000)]
[TestFixture(typeof(AmqpInboundSystem), 100_000)]
[TestFixture(typeof(MassTransitInboundSystem), 100_000)]
[TestFixture(typeof(SftpInboundSystem), 2_000)] // of them: more would take minutes
[Category("Thorough"), CancelAfter(600_000), OwnProcess]
internal sealed class WaitingItemsTests<TSystem>(int taken) : AdapterFixture<TSystem>
    where TSystem : AdapterSystem, new()
{
    private const int Waiting = 100_000;
    private const long MostMemory = 160L * 1024 * 1024;

    [Test]
    public async Task Hundred_thousand_waiting_items_are_taken_in_bounded_memory(CancellationToken cancellationToken)
    {
        await Host.ConfigureAsync(target: "\"process\": \"forget\"");
        await Host.StartAsync(cancellationToken);
        await Host.PutAsync(Waiting, cancellationToken);
        await Host.WaitAsync(async token => await TakenAsync(token) == 1, "to take the first item", cancellationToken);
        await Host.PauseAsync(true, cancellationToken);
        await System.PutManyAsync(Waiting, cancellationToken);
        var before = Host.PeakMemory;

        await Host.PauseAsync(false, cancellationToken);
        await Host.WaitAsync(
            async token => await TakenAsync(token) > taken,
            $"to take {taken} items",
            cancellationToken,
            TimeSpan.FromMinutes(6)
        );

        Assert.That(Host.PeakMemory - before, Is.LessThan(MostMemory));
        await TestContext.Out.WriteLineAsync($"{(Host.PeakMemory - before) / 1024 / 1024} MiB above {before / 1024 / 1024} MiB");
    }

    private async Task<long> TakenAsync(CancellationToken cancellationToken) =>
        (await Host.StatusAsync(cancellationToken)).GetProperty("messages").GetInt64();
}
