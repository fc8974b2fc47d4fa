using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Farm;
using Esb.IntegrationTests.Faults.Load;
using Esb.IntegrationTests.Faults.Nemeses;
using Esb.IntegrationTests.Faults.Sinks;
using Esb.Storage.Files;
using Esb.Storage.Segments;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.IntegrationTests.Faults.Scenarios.Stores;

/// <summary>The spool is damaged while its host is dead: the host starts all the same, says so once, and moves every fact that is
/// whole.</summary>
[NonParallelizable, Property("Case", "T-AUD-5")]
public sealed class SpoolDamageTests
{
    private const int Messages = 200;

    [
        TestCase("cut within its last record", Category = "FaultsSmoke"),
        TestCase("one bit flipped", Category = "Audit"),
        TestCase("a page overwritten", Category = "Audit")
    ]
    [CancelAfter(120_000)]
    public async Task Whole_records_survive_damage(string damage, CancellationToken cancellationToken)
    {
        await using var bench = await FaultBench.CreateAsync(Plan(damage));
        var host = bench.Farm.Hosts[0];
        await SpoolAsync(bench, cancellationToken);
        await host.KillAsync();
        var before = ReadFacts(host);
        Damage(LastSegment(host), damage);
        var whole = ReadFacts(host);

        host.Start();
        await bench.Servers.StartAsync("postgres");
        await host.WaitForReadyAsync(cancellationToken);
        var found = await WaitForFactsAsync(bench, whole, cancellationToken);

        var errors = host
            .Process.Output.Split('\n')
            .Count(line =>
                line.Contains(" bytes hold no ", StringComparison.Ordinal) || line.Contains("bytes are skipped", StringComparison.Ordinal)
            );
        bench.Note(
            $"{Messages}; the spool {damage}",
            $"{before.Count} facts before, {whole.Count} whole, {found} of them in the database; {errors} error"
        );
        Assert.Multiple(() =>
        {
            Assert.That(before, Has.Count.GreaterThanOrEqualTo(3 * Messages));
            Assert.That(
                before.Count - whole.Count,
                Is.InRange(1, damage == "a page overwritten" ? 60 : 1),
                "around the damage all is kept"
            );
            Assert.That(found, Is.EqualTo(whole.Count));
            Assert.That(errors, Is.EqualTo(1));
            Assert.That(
                Directory.Exists(Path.Combine(SpoolOf(host), SegmentRecovery.QuarantineFolder)),
                Is.EqualTo(damage.StartsWith("cut", StringComparison.Ordinal))
            );
        });
    }

    [Test, Category("Audit"), CancelAfter(120_000)]
    public async Task Host_starts_while_the_disk_of_its_spool_is_full(CancellationToken cancellationToken)
    {
        await using var bench = await FaultBench.CreateAsync(Plan("disk full"));
        var host = bench.Farm.Hosts[0];
        await using var volume = await SmallVolume.MountAsync(host.Folder, megabytes: 64);
        await using var farm = bench.Farm; // ends before its volume does
        await SpoolAsync(bench, cancellationToken);
        await host.KillAsync();
        var facts = ReadFacts(host);

        using var full = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var filling = volume.KeepFullAsync(full.Token);
        host.Start();
        await host.Process.WaitAsync(
            async token =>
                (await host.Process.Client.GetAsync(new Uri(host.Process.Management, "/health/live"), token)).IsSuccessStatusCode,
            TimeSpan.FromSeconds(60),
            "to live",
            cancellationToken
        );
        var readyWhileFull = await host.IsReadyAsync(cancellationToken);
        await full.CancelAsync();
        await filling;
        await bench.Servers.StartAsync("postgres");
        await host.WaitForReadyAsync(cancellationToken);
        var found = await WaitForFactsAsync(bench, facts, cancellationToken);

        bench.Note($"{Messages}; started while the disk of the spool is full", $"{facts.Count} facts, {found} of them in the database");
        Assert.That((readyWhileFull, found), Is.EqualTo((false, facts.Count)));
    }

    private static BenchPlan Plan(string damage) =>
        new()
        {
            Case = $"T-AUD-5 ({damage})",
            Hosts = 1,
            Sinks = async (_, folder) => [await HttpSink.StartAsync("web", folder, SinkPromises.None, BenchConfiguration.Parallel())],
        };

    // What was moved already would not be missed: the database goes first.
    private static async Task SpoolAsync(FaultBench bench, CancellationToken cancellationToken)
    {
        await bench.Farm.StartAsync(cancellationToken);
        await bench.Servers.StopAsync("postgres");
        using var load = bench.Load(
            new LoadPlan
            {
                Messages = Messages,
                Rate = 200,
                LargestBody = 1_024,
            }
        );
        await load.RunAsync(cancellationToken);
        while ((await bench.Sinks[0].ReadAsync(cancellationToken)).Count < Messages)
            await Task.Delay(50, cancellationToken);
        await Task.Delay(TimeSpan.FromSeconds(1), cancellationToken); // its last facts
    }

    private static void Damage(SegmentFile segment, string damage)
    {
        using var file = new FileStream(segment.Path, FileMode.Open, FileAccess.ReadWrite);
        if (damage.StartsWith("cut", StringComparison.Ordinal))
        {
            file.SetLength(file.Length - 7);
            return;
        }

        var bytes = new byte[damage == "one bit flipped" ? 1 : 4096];
        file.Position = file.Length / 2;
        file.ReadExactly(bytes);
        for (var i = 0; i < bytes.Length; i++)
            bytes[i] ^= 0x10;
        file.Position -= bytes.Length;
        file.Write(bytes);
    }

    private static string SpoolOf(FarmHost host) => Path.Combine(host.Folder, "esb-data", "spool");

    private static SegmentFile LastSegment(FarmHost host) => SegmentFile.List(SpoolOf(host))[^1];

    // In the last segment: everything that was recorded, moved or not.
    private static HashSet<Guid> ReadFacts(FarmHost host) =>
        [
            .. new SegmentReader(SpoolOf(host), committed: null, NullLogger.Instance)
                .ReadNew()
                .SelectMany(record => StoredFact.Read(record.Payload))
                .Select(fact => fact.Id),
        ];

    private static async Task<int> WaitForFactsAsync(FaultBench bench, HashSet<Guid> facts, CancellationToken cancellationToken)
    {
        for (var started = TimeProvider.System.GetTimestamp(); ; await Task.Delay(200, cancellationToken))
        {
            var found = (await bench.Records.ReadFactsAsync(endpoint: null, cancellationToken)).Count(fact => facts.Contains(fact.Id));
            if (found == facts.Count || TimeProvider.System.GetElapsedTime(started) > TimeSpan.FromSeconds(30))
                return found;
        }
    }
}
