using SideBySide.Measuring;
using SideBySide.Servers;
using SideBySide.Targets;
using SideBySide.Topics;

namespace SideBySide.Scenarios;

/// <summary>S7: itineraries in the process and with durable stops, and messages that are put together.</summary>
internal sealed class ItineraryRig(Surroundings surroundings, TestServers servers) : IRig
{
    private const string Prefix = "itineraries";
    private const int Stops = 3;
    private const int Parts = 100;

    private const string Settings = "quorum queues, persistent, audit on, pool of 32; RabbitMQ and PostgreSQL";

    public IReadOnlyList<string> Scenarios { get; } = ["S7"];

    public async Task RunAsync(IReadOnlySet<string> wanted, Func<Contest, Task> hold, CancellationToken cancellationToken)
    {
        await using var topics = await TopicServers.StartAsync(surroundings, servers, cancellationToken);
        await using var host = await topics.HostAsync("itineraries", Prefix, [], cancellationToken);
        await using var counter = await PublishedCounter.StartAsync(topics, Prefix, cancellationToken);
        await hold(new Contest("S7, in the process", [await QuoteAsync(host, cancellationToken)]));
        var routed = Flow("itinerary, durable", topics, host, counter, "in.route", copies: 1, worth: Stops);
        await hold(new Contest("S7, durable stops", [new("S7", "durable stops, hops", routed, [], Goal.Rate(2_000))]));
        var put = Flow("aggregate", topics, host, counter, "in.part", copies: Parts, worth: Parts);
        await hold(new Contest("S7, aggregate", [new("S7", $"{Parts} documents put together", put, [], Goal.Rate(2_500))]));
    }

    private async Task<Row> QuoteAsync(EsbHost host, CancellationToken cancellationToken)
    {
        var body = Path.Combine(surroundings.Folder("itinerary-quote"), "body.json");
        await File.WriteAllBytesAsync(body, OrderPublisher.Body("q0", 1), cancellationToken);
        var request = new WrkRequest($"{host.Url}/quotes", body, "application/json", Flaw);
        var ours = new WrkTarget(
            "itinerary, in the process",
            $"{host.Collector} collector; two-way, two stops, audit on; {WrkTarget.Connections} callers",
            request,
            Meter.Of(host),
            surroundings
        );
        return new Row("S7", "in the process", ours, [], Goal.Rate(5_000));
    }

    private static string? Flaw(byte[] answer) => answer.AsSpan().SequenceEqual("quoted"u8) ? null : "another answer than 'quoted'";

    private static FlowTarget Flow(
        string name,
        TopicServers topics,
        EsbHost host,
        PublishedCounter counter,
        string subject,
        int copies,
        int worth
    ) =>
        new(
            name,
            $"{host.Collector} collector; {Settings}",
            Meter.Of(host),
            topics.Publisher,
            counter,
            new Address($"{Prefix}.topics.in", subject) { IsKeyed = true },
            copies,
            worth
        );
}
