using System.Diagnostics;
using System.Globalization;
using Esb.Audit;
using Esb.Audit.Spooling;
using Esb.Core.Audit;
using Esb.Core.Messages;
using Esb.Storage.Spool;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Benchmarks;

/// <summary>What an audit fact costs from its recording until the store has it, the store left out: read again from the segments, or handed
/// over in memory; each flushed first, or two of an exchange in one record, flushed behind. <c>dotnet run -- spool-cost [ROUNDS]
/// [FOLDER]</c></summary>
internal static class SpoolCost
{
    private const int Facts = 40_000;

    public static async Task RunAsync(int rounds, string folder)
    {
        for (var round = 0; round <= rounds; round++)
        {
            foreach (var recorders in new[] { 4, 32, 200 })
            {
                await MeasureAsync("from segments", tailBytes: 0, recorders, folder, isShown: round > 0);
                await MeasureAsync("in memory", tailBytes: 4 << 20, recorders, folder, isShown: round > 0);
                await MeasureAsync("two together", tailBytes: 4 << 20, recorders, folder, isShown: round > 0, areTogether: true);
            }
        }
    }

    private static async Task MeasureAsync(
        string name,
        long tailBytes,
        int recorders,
        string folder,
        bool isShown,
        bool areTogether = false
    )
    {
        var place = Directory.CreateDirectory(Path.Combine(folder, $"spool-cost-{Guid.NewGuid():N}")).FullName;
        try
        {
            var spool = new AuditSpool(
                place,
                SpoolOptions.Of(512 << 20) with
                {
                    TailBytes = tailBytes,
                },
                TimeProvider.System,
                NullLogger.Instance
            );
            await using (spool)
            {
                var store = new CountingStore(spool);
                var refused = new RefusedFacts(NullLogger<RefusedFacts>.Instance);
                using var mover = new AuditMover(store, refused, TimeProvider.System, NullLogger<AuditMover>.Instance);
                await mover.StartAsync(CancellationToken.None);
                var trail = new AuditTrail(new AuditConfig(), store, refused);
                using var process = Process.GetCurrentProcess();
                var (cpu, bytes, started) = (process.TotalProcessorTime, GC.GetTotalAllocatedBytes(), Stopwatch.GetTimestamp());
                await Task.WhenAll(Enumerable.Range(0, recorders).Select(_ => RecordAsync(trail, Facts / recorders, areTogether)));
                var elapsed = Stopwatch.GetElapsedTime(started);
                await mover.StopAsync(CancellationToken.None);
                process.Refresh();
                if (isShown)
                    Show(name, recorders, elapsed, process.TotalProcessorTime - cpu, GC.GetTotalAllocatedBytes() - bytes, store.Facts);
            }
        }
        finally
        {
            Directory.Delete(place, recursive: true);
        }
    }

    private static async Task RecordAsync(AuditTrail trail, int count, bool areTogether)
    {
        var message = EsbMessage.Create(MessageBody.Empty, TimeProvider.System) with { Subject = "orders.accepted" };
        for (var i = 0; i < count; i += areTogether ? 2 : 1)
        {
            if (areTogether)
                await trail.RecordAsync(
                    [new AuditRecord(FactOf(message)), new AuditRecord(FactOf(message))],
                    AuditDurability.Written,
                    CancellationToken.None
                );
            else
                await trail.RecordAsync(FactOf(message), CancellationToken.None);
        }
    }

    private static AuditFact FactOf(EsbMessage message) =>
        AuditFacts.Of(message, AuditKind.Published, TimeProvider.System) with
        {
            Endpoint = "shop",
            Process = "receive-order",
        };

    private static void Show(string name, int recorders, TimeSpan elapsed, TimeSpan cpu, long bytes, int facts) =>
        Console.WriteLine(
            string.Create(
                CultureInfo.InvariantCulture,
                $"{name, -14} {recorders, 3} recorders: {facts / elapsed.TotalSeconds, 7:0}/s "
                    + $"{cpu.TotalMicroseconds / facts, 6:0.0} us CPU {bytes / facts, 6} bytes"
            )
        );

    // Takes them, and keeps none.
    private sealed class CountingStore(IAuditSpool spool) : IAuditStore
    {
        public IAuditSpool Spool => spool;

        public int Facts { get; private set; }

        public Task AppendAsync(IReadOnlyList<AuditFact> facts, CancellationToken cancellationToken)
        {
            Facts += facts.Count;
            return Task.CompletedTask;
        }

        public IAsyncEnumerable<AuditFact> FindAsync(AuditQuery query, CancellationToken cancellationToken) =>
            AsyncEnumerable.Empty<AuditFact>();

        public Task<IReadOnlyList<AuditFact>> GetJourneyAsync(AuditJourneyQuery query, CancellationToken cancellationToken) =>
            Task.FromResult<IReadOnlyList<AuditFact>>([]);
    }
}
