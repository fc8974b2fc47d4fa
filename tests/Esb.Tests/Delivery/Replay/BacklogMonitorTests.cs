using System.Diagnostics.Metrics;
using Esb.Core.Alerts;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Replays;
using Esb.Core.Storage;
using Esb.Delivery.Replay;
using Esb.Tests.Fakes;
using Microsoft.Extensions.Logging.Abstractions;
using NSubstitute;

namespace Esb.Tests.Delivery.Replay;

public sealed class BacklogMonitorTests
{
    [Test, CancelAfter(30_000)]
    public async Task What_waits_is_told_for_each_endpoint_and_those_that_are_gone_are_one(CancellationToken cancellationToken)
    {
        var time = new ManualTime();
        var now = time.GetUtcNow();
        var letters = Substitute.For<IDeadLetterStore>();
        letters
            .GroupAsync(null!, false, default)
            .ReturnsForAnyArgs([
                new DeadLetterGroup("shop", "ESB-A", null, 5, now.AddSeconds(-60), now),
                new DeadLetterGroup("shop", "ESB-B", null, 2, now.AddSeconds(-30), now),
                new DeadLetterGroup("gone", "ESB-A", null, 1, now.AddSeconds(-90), now),
                new DeadLetterGroup("gone too", "ESB-A", null, 3, now, now),
            ]);
        var parking = Substitute.For<IParkingStore>();
        parking.ListAsync(null, null, 0, default).ReturnsForAnyArgs([new ParkedKey("shop", "c-1", 4, now.AddSeconds(-10), null, null)]);
        using var monitor = new BacklogMonitor(
            [new Target { Name = "shop", Subscribe = [] }],
            letters,
            parking,
            time,
            NullLogger<BacklogMonitor>.Instance
        );

        await monitor.StartAsync(cancellationToken);
        await Eventually.HoldsAsync(() => monitor.Current.DeadLetters == 11, "the first count", cancellationToken);
        var measured = Measure("shop", BacklogMonitor.Other);
        await monitor.StopAsync(cancellationToken);

        Assert.That(monitor.Current, Is.EqualTo(new Backlog(11, now.AddSeconds(-90), 1, now.AddSeconds(-10)) { CountedAt = now }));
        Assert.That(monitor.Notices, Is.Empty);
        Assert.That(measured["esb.dead_letter.open"], Is.EqualTo(new Dictionary<string, double> { ["shop"] = 7, ["_other"] = 4 }));
        Assert.That(measured["esb.dead_letter.age"], Is.EqualTo(new Dictionary<string, double> { ["shop"] = 60, ["_other"] = 90 }));
        Assert.That(measured["esb.parked.keys"], Is.EqualTo(new Dictionary<string, double> { ["shop"] = 1, ["_other"] = 0 }));
        Assert.That(measured["esb.parked.age"], Is.EqualTo(new Dictionary<string, double> { ["shop"] = 10, ["_other"] = 0 }));
    }

    [Test, CancelAfter(30_000)]
    public async Task Store_that_is_away_is_a_notice_until_it_is_back(CancellationToken cancellationToken)
    {
        var time = new ManualTime();
        var isAway = true;
        var letters = Substitute.For<IDeadLetterStore>();
        letters
            .GroupAsync(null!, false, default)
            .ReturnsForAnyArgs(_ =>
                isAway ? throw new EsbException("ESB-STORE-AWAY", "The store cannot be reached.", FaultKind.Unavailable) : []
            );
        var parking = Substitute.For<IParkingStore>();
        parking.ListAsync(null, null, 0, default).ReturnsForAnyArgs([]);
        var alerts = Substitute.For<IAlerts>();
        using var monitor = new BacklogMonitor([], letters, parking, time, NullLogger<BacklogMonitor>.Instance, alerts);

        await monitor.StartAsync(cancellationToken);
        await Eventually.HoldsAsync(() => monitor.Notices.Any(), "the notice", cancellationToken);
        Assert.That(monitor.Notices.Single(), Does.StartWith("ESB-STORE-AWAY The store cannot be read since "));
        isAway = false;
        await Eventually.HoldsAsync(
            () =>
            {
                time.Advance(TimeSpan.FromSeconds(3));
                return !monitor.Notices.Any();
            },
            "the end of the notice",
            cancellationToken
        );
        await monitor.StopAsync(cancellationToken);

        alerts.Received(1).Raise(Arg.Is<Alert>(alert => alert.Kind == AlertKinds.StoreAway));
        Assert.That(monitor.Current.CountedAt, Is.Not.Null);
    }

    [Test, CancelAfter(30_000)]
    public async Task Keys_of_one_endpoint_do_not_hide_those_of_another(CancellationToken cancellationToken)
    {
        var time = new ManualTime();
        var now = time.GetUtcNow();
        var parking = Substitute.For<IParkingStore>();
        IReadOnlyList<ParkedKey> many =
        [
            .. Enumerable.Range(0, 1000).Select(number => new ParkedKey("shop", $"c-{number}", 1, now.AddSeconds(-100), null, null)),
        ];
        parking.ListAsync(null, null, 1000, Arg.Any<CancellationToken>()).Returns(many);
        parking.ListAsync("shop", null, 1000, Arg.Any<CancellationToken>()).Returns(many);
        parking
            .ListAsync("ledger", null, 1000, Arg.Any<CancellationToken>())
            .Returns([new ParkedKey("ledger", "c-1", 1, now.AddSeconds(-10), null, null)]);
        using var monitor = new BacklogMonitor(
            [new Target { Name = "shop", Subscribe = [] }, new Target { Name = "ledger", Subscribe = [] }],
            Substitute.For<IDeadLetterStore>(),
            parking,
            time,
            NullLogger<BacklogMonitor>.Instance
        );

        await monitor.StartAsync(cancellationToken);
        await Eventually.HoldsAsync(() => monitor.Current.ParkedKeys == 1001, "the first count", cancellationToken);
        await monitor.StopAsync(cancellationToken);
    }

    private static Dictionary<string, Dictionary<string, double>> Measure(params string[] endpoints)
    {
        var measured = new Dictionary<string, Dictionary<string, double>>();
        using var listener = new MeterListener
        {
            InstrumentPublished = (instrument, listener) =>
            {
                if (instrument.Meter.Name == "Esb.Endpoints" && instrument.IsObservable)
                    listener.EnableMeasurementEvents(instrument);
            },
        };
        listener.SetMeasurementEventCallback<long>((instrument, value, tags, _) => Keep(instrument, value, tags));
        listener.SetMeasurementEventCallback<double>((instrument, value, tags, _) => Keep(instrument, value, tags));
        listener.Start();
        listener.RecordObservableInstruments();
        return measured;

        void Keep(Instrument instrument, double value, ReadOnlySpan<KeyValuePair<string, object?>> tags)
        {
            foreach (var (name, tag) in tags)
            {
                if (name != "esb.endpoint" || tag is not string endpoint || !endpoints.Contains(endpoint))
                    continue;
                if (!measured.TryGetValue(instrument.Name, out var values))
                    measured[instrument.Name] = values = [];
                values[endpoint] = value;
            }
        }
    }

    private sealed record Target : OutboundEndpointConfig;
}
