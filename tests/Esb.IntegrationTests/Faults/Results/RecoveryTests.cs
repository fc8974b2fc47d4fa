using System.Text.Json.Nodes;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Ledgers;
using Esb.IntegrationTests.Faults.Nemeses;
using Esb.IntegrationTests.Faults.Sinks;

namespace Esb.IntegrationTests.Faults.Results;

/// <summary>Recoveries of faults and arrivals at moments made by hand.</summary>
public sealed class RecoveryTests
{
    private static readonly DateTimeOffset Noon = new(2026, 1, 1, 12, 0, 0, TimeSpan.Zero);

    [Test]
    public async Task Recovery_counts_from_the_end_of_a_fault_to_the_next_arrival([Values(4, 9)] int arrival)
    {
        var recovery = await Recovery.MeasureAsync(
            [Struck("kill postgres", 1, 3)],
            [new StillSink(2, arrival)],
            [],
            CancellationToken.None
        );

        Assert.That(SecondsOf(recovery), Is.EqualTo(new[] { arrival - 3 }));
    }

    [Test]
    public async Task Fail_over_counts_from_the_fault_of_a_host_at_every_endpoint()
    {
        var failOver = await Recovery.MeasureFailOverAsync(
            [Struck("kill -9 host 1", 10, 40), Struck("kill postgres", 10, 12)],
            [new StillSink(10, 15), new StillSink(17)],
            [],
            CancellationToken.None
        );

        Assert.That(SecondsOf(failOver), Is.EqualTo(new[] { 5, 7 }));
    }

    [TestCase(5, 20)] // away already
    [TestCase(14, 20)] // struck before another host delivers
    public async Task Time_without_a_broker_does_not_count(int struck, int back)
    {
        var failOver = await Recovery.MeasureFailOverAsync(
            [Struck("kill -9 host 1", 10, 40), Struck("kill -9 rabbitmq", struck, back)],
            [new StillSink(24)],
            [],
            CancellationToken.None
        );

        Assert.That(SecondsOf(failOver), Is.EqualTo(new[] { 5 }), "4 s after its return, and the second in which nothing is believed");
    }

    [Test]
    public async Task Broker_that_goes_after_the_recovery_changes_nothing()
    {
        var recovery = await Recovery.MeasureAsync(
            [Struck("kill postgres", 1, 3), Struck("kill -9 rabbitmq", 6, 9)],
            [new StillSink(5, 10)],
            [],
            CancellationToken.None
        );

        Assert.That(SecondsOf(recovery), Is.EqualTo(new[] { 2, 1 }));
    }

    [Test]
    public async Task Time_in_which_nothing_waits_does_not_count()
    {
        SentMessage[] sent = [Accepted(at: 1), Accepted(at: 8)];

        var recovery = await Recovery.MeasureAsync(
            [Struck("SIGSTOP host 1", 0, 3), Struck("SIGSTOP host 1", 7, 9)],
            [new StillSink(2, 13) { Ids = ["1", "8"] }],
            sent,
            CancellationToken.None
        );

        Assert.That(
            SecondsOf(recovery),
            Is.EqualTo(new[] { 5, 4 }),
            "from 8, when the second message was accepted, and from 9, when it had waited already"
        );
    }

    [Test]
    public async Task What_nobody_confirmed_is_not_known_to_have_waited()
    {
        var unconfirmed = new SentMessage("held", "", 1, "", "", Noon) { Outcome = SendOutcome.Unknown };

        var recovery = await Recovery.MeasureAsync(
            [Struck("SIGSTOP host 1", 1, 3)],
            [new StillSink(20, 40) { Ids = ["19", "held"] }],
            [Accepted(at: 19), unconfirmed],
            CancellationToken.None
        );

        Assert.That(
            SecondsOf(recovery),
            Is.EqualTo(new[] { 1 }),
            "from 19, when something was accepted; what a frozen host held came at 40"
        );
    }

    [Test]
    public async Task Fault_after_which_nothing_was_left_to_arrive_is_not_measured()
    {
        var recovery = await Recovery.MeasureAsync([Struck("kill postgres", 1, 3)], [new StillSink(2)], [], CancellationToken.None);

        Assert.That(
            (recovery.Times, recovery.Slowest, recovery.Slowest95),
            Is.EqualTo((Array.Empty<TimeSpan>(), TimeSpan.Zero, TimeSpan.Zero))
        );
    }

    private static SentMessage Accepted(int at) =>
        new($"{at}", "", 1, "", "", Noon) { Outcome = SendOutcome.Confirmed, OutcomeAt = Noon.AddSeconds(at) };

    private static Strike Struck(string name, int from, int to) => new(name, Noon.AddSeconds(from), Noon.AddSeconds(to));

    private static IEnumerable<double> SecondsOf(Recovery recovery) => recovery.Times.Select(time => time.TotalSeconds);

    private sealed class StillSink(params int[] seconds) : ISink
    {
        /// <summary>Of what arrives, in its order; the ledger knows of none where they are left out.</summary>
        public string[] Ids { get; init; } = [];

        public string Endpoint => "still";

        public SinkPromises Promises => SinkPromises.None;

        public JsonObject Configuration => [];

        public Task<IReadOnlyList<SinkEntry>> ReadAsync(CancellationToken cancellationToken) =>
            Task.FromResult<IReadOnlyList<SinkEntry>>([
                .. seconds.Select((second, index) => new SinkEntry(Ids.ElementAtOrDefault(index) ?? "", "", Noon.AddSeconds(second))),
            ]);

        public ValueTask DisposeAsync() => ValueTask.CompletedTask;
    }
}
