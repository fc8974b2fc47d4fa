using Esb.Core.Errors;
using Esb.Storage;
using Esb.Storage.DeadLetters;
using Esb.Tests.Fakes;
using Microsoft.Extensions.Logging;

namespace Esb.Tests.Storage;

public sealed class LetterRetentionTests
{
    [Test, CancelAfter(30_000)]
    public async Task Letters_are_removed_every_hour_once_their_time_is_over_also_after_a_failure(CancellationToken cancellationToken)
    {
        var (time, store, log) = (new ManualTime(), new Store { IsAway = true }, new LogLines());
        var start = time.GetUtcNow();
        using var loggers = LoggerFactory.Create(logging => logging.AddProvider(log));
        using var retention = new LetterRetention(
            new FileStoreConfig { Retention = TimeSpan.FromDays(3) },
            store,
            time,
            new Logger<LetterRetention>(loggers)
        );

        await retention.StartAsync(cancellationToken);
        await Eventually.HoldsAsync(() => time.Waiting == 1, "the next hour is waited for", cancellationToken);
        store.IsAway = false;
        time.Advance(TimeSpan.FromHours(1));
        await Eventually.HoldsAsync(() => store.Removed.Count == 2 && time.Waiting == 1, "letters are removed again", cancellationToken);
        await retention.StopAsync(cancellationToken);

        Assert.That(store.Removed, Is.EqualTo([start.AddDays(-3), start.AddDays(-3).AddHours(1)]));
        Assert.That(log.All.Count(line => line.Text.Contains("trying again in an hour")), Is.EqualTo(1));
        Assert.That(log.All.Count(line => line.Text.Contains("2 replayed or discarded dead letters and 1 replay jobs")), Is.EqualTo(1));
    }

    private sealed class Store : ILetterRetention
    {
        public bool IsAway { get; set; }

        public List<DateTimeOffset> Removed { get; } = [];

        public Task<SettledLetters> RemoveSettledAsync(DateTimeOffset before, CancellationToken cancellationToken)
        {
            Removed.Add(before);
            return IsAway
                ? throw new EsbException("ESB-STORE-AWAY", "The store cannot be reached.", FaultKind.Unavailable)
                : Task.FromResult(new SettledLetters(2, 1));
        }
    }
}
