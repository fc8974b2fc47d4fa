using SideBySide.Measuring;
using SideBySide.Servers;
using SideBySide.Targets;
using SideBySide.Topics;

namespace SideBySide.Scenarios;

/// <summary>S7: itineraries in the process and with durable stops, fixed ones and such as the message chooses, and messages that are put
/// together.</summary>
internal sealed class ItineraryRig(Surroundings surroundings, TestServers servers) : IRig
{
    private const string Prefix = "itineraries";
    private const int Stops = 3;
    private const int Parts = 100;
    private const double Resolved = 0.95; // beside a fixed one
    private const double Itinerary = 0.85; // beside the same steps without one

    private const string Settings = "quorum queues, persistent, audit on, pool of 32; RabbitMQ and PostgreSQL";

    public IReadOnlyList<string> Scenarios { get; } = ["S7"];

    public async Task RunAsync(IReadOnlySet<string> wanted, Func<Contest, Task> hold, CancellationToken cancellationToken)
    {
        await using var topics = await TopicServers.StartAsync(surroundings, servers, cancellationToken);
        await using var host = await topics.HostAsync("itineraries", Prefix, [], cancellationToken);
        await using var counter = await PublishedCounter.StartAsync(topics, Prefix, cancellationToken);
        await hold(new Contest("S7, in the process", await QuotesAsync(host, cancellationToken)));
        var routed = Flow("itinerary, durable", topics, host, counter, "in.route", copies: 1, worth: Stops);
        var chosen = Flow("itinerary, durable, resolved", topics, host, counter, "in.chosen", copies: 1, worth: Stops);
        await hold(
            new Contest(
                "S7, durable stops",
                [
                    new("S7", "durable stops, hops", routed, [], Goal.Rate(2_000)),
                    new("S7", "durable stops, resolved", chosen, [routed], Goal.Ratio(Resolved)),
                ]
            )
        );
        var put = Flow("aggregate", topics, host, counter, "in.part", copies: Parts, worth: Parts);
        await hold(new Contest("S7, aggregate", [new("S7", $"{Parts} documents put together", put, [], Goal.Rate(2_500))]));
    }

    private async Task<IReadOnlyList<Row>> QuotesAsync(EsbHost host, CancellationToken cancellationToken)
    {
        var body = Path.Combine(surroundings.Folder("itinerary-quote"), "body.json");
        await File.WriteAllBytesAsync(body, OrderPublisher.Body("q0", 1), cancellationToken);
        var ours = Target("itinerary, in the process", "quotes");
        return
        [
            new("S7", "in the process", ours, [], Goal.Rate(5_000)),
            new(
                "S7",
                "in the process, resolved",
                Target("itinerary, in the process, resolved", "chosen-quotes"),
                [ours],
                Goal.Ratio(Resolved)
            ),
            new("S7", "in the process, beside its steps", ours, [Target("the steps without an itinerary", "steps")], Goal.Ratio(Itinerary)),
        ];

        WrkTarget Target(string name, string path) =>
            new(
                name,
                $"{host.Collector} collector; two-way, two stops, audit on; {WrkTarget.Connections} callers",
                new WrkRequest($"{host.Url}/{path}", body, "application/json", Flaw),
                Meter.Of(host),
                surroundings
            );
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
