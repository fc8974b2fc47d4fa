namespace Esb.IntegrationTests.Adapters;

/// <summary>Many items that wait when an endpoint begins are taken in bounded memory of its host.</summary>
/// <typeparam name="TSystem">The adapter and its system.</typeparam>
[TestFixture(typeof(SqlInboundSystem), 100_000)]
[TestFixture(typeof(MassTransitInboundSystem), 100_000)]
[TestFixture(typeof(SftpInboundSystem), 2_000)] // of them: more would take minutes
[Category("Thorough"), CancelAfter(600_000)]
internal sealed class WaitingItemsTests<TSystem>(int taken)
    where TSystem : AdapterSystem, new()
{
    private const int Waiting = 100_000;
    private const long MostMemory = 160L * 1024 * 1024;

    private TSystem _system = null!;
    private AdapterHost _host = null!;

    [SetUp]
    public async Task StartSystem()
    {
        _system = new TSystem();
        await _system.StartAsync();
        _host = new AdapterHost(_system);
    }

    [TearDown]
    public async Task StopSystem()
    {
        await _host.DisposeAsync();
        await _system.DisposeAsync();
    }

    [Test]
    public async Task Hundred_thousand_waiting_items_are_taken_in_bounded_memory(CancellationToken cancellationToken)
    {
        await _host.ConfigureAsync(target: "\"process\": \"forget\"");
        await _host.StartAsync(cancellationToken);
        await _host.PutAsync(Waiting, cancellationToken);
        await _host.WaitAsync(async token => await TakenAsync(token) == 1, "to take the first item", cancellationToken);
        await PauseAsync(true, "paused-by-operator", cancellationToken);
        await _system.PutManyAsync(Waiting, cancellationToken);
        var before = _host.PeakMemory;

        await PauseAsync(false, "running", cancellationToken);
        await _host.WaitAsync(
            async token => await TakenAsync(token) > taken,
            $"to take {taken} items",
            cancellationToken,
            TimeSpan.FromMinutes(6)
        );

        Assert.That(_host.PeakMemory - before, Is.LessThan(MostMemory));
        await TestContext.Out.WriteLineAsync($"{(_host.PeakMemory - before) / 1024 / 1024} MiB above {before / 1024 / 1024} MiB");
    }

    private async Task<long> TakenAsync(CancellationToken cancellationToken) =>
        (await _host.StatusAsync(cancellationToken)).GetProperty("messages").GetInt64();

    private async Task PauseAsync(bool paused, string state, CancellationToken cancellationToken)
    {
        await _host.SendAsync(HttpMethod.Patch, "/api/endpoints/partner", new { paused }, cancellationToken);
        await _host.WaitForStateAsync(state, cancellationToken);
    }
}
