using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Itineraries;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Esb.Tests.Fakes;
using Esb.Workflows.Itineraries;
using Microsoft.Extensions.DependencyInjection;
using NSubstitute;

namespace Esb.Tests.Workflows.Processes;

/// <summary>Itineraries as they are written, and what undoes what.</summary>
public sealed class ItineraryTests
{
    private const string Plain = """ "plain": { "stops": [{ "log": "here" }] } """;
    private const string Durable = """ "durable": { "stops": [{ "id": "a", "durable": true, "steps": [{ "log": "here" }] }] } """;

    [TestCase("""[{ "itinerary": "plain" }, { "log": "behind" }]""")]
    [TestCase("""[{ "log": "before" }, { "itinerary": "durable" }]""")]
    [TestCase("""[{ "itinerary": { "resolve": [{ "if": { "header": "x" }, "itinerary": "durable" }], "otherwise": "plain" } }]""")]
    [TestCase("""[{ "itinerary": { "value": { "header": "x" }, "allow": ["plain"] } }]""")]
    public void Itinerary_is_attached_by_name_by_condition_or_by_the_message(string process)
    {
        using var processes = Compile(process);

        Assert.That(processes.Errors.All, Is.Empty);
    }

    [TestCase("""[{ "itinerary": "nothing" }]""", "ESB-CFG-REF")]
    [TestCase("""[{ "itinerary": { "value": { "header": "x" } } }]""", "ESB-CFG-REQUIRED")]
    [TestCase("""[{ "itinerary": { "use": "plain", "value": { "header": "x" }, "allow": ["plain"] } }]""", "ESB-CFG-ONEOF")]
    [TestCase("""[{ "itinerary": "durable" }, { "log": "never" }]""", "ESB-HOLD-PLACE")]
    [TestCase("""[{ "try": { "steps": [{ "itinerary": "durable" }], "finally": [] } }]""", "ESB-HOLD-PLACE")]
    public void Itinerary_that_cannot_be_followed_is_refused(string process, string code)
    {
        using var processes = Compile(process);

        Assert.That(processes.Errors.All.Select(error => error.Code), Is.EqualTo(new[] { code }));
    }

    [TestCase("""{ "stops": [] }""", "ESB-CFG-VALUE")]
    [TestCase("""{ "stops": [{ "durable": true, "steps": [{ "log": "x" }] }] }""", "ESB-CFG-REQUIRED")]
    [TestCase("""{ "stops": [{ "steps": [] }] }""", "ESB-CFG-VALUE")]
    [TestCase("""{ "stops": [{ "log": "x", "call": "backend" }] }""", "ESB-CFG-STEP")]
    [TestCase("""{ "stops": [{ "itinerary": "plain" }] }""", "ESB-HOLD-PLACE")]
    [TestCase("""{ "stops": [{ "aggregate": { "until": { "count": 2 } } }] }""", "ESB-HOLD-PLACE")]
    [TestCase("""{ "stops": [{ "steps": [{ "log": "x" }], "compensate": [{ "call": "nobody" }] }, { "log": "y" }] }""", "ESB-CFG-REF")]
    [TestCase("""{ "timeout": "1h", "stops": [{ "log": "x" }] }""", "ESB-CFG-VALUE")]
    [TestCase("""{ "timeout": "0s", "stops": [{ "id": "a", "durable": true, "steps": [{ "log": "x" }] }] }""", "ESB-CFG-RANGE")]
    public void Stops_that_cannot_work_are_refused_once(string itinerary, string code)
    {
        using var processes = Compile("[]", $""" "bad": {itinerary}, {Plain} """);

        Assert.That(processes.Errors.All.Select(error => error.Code), Is.EqualTo(new[] { code }));
    }

    [Test]
    public void Slip_is_short_whatever_the_length_of_the_itinerary()
    {
        var stops = Enumerable.Range(0, 20).Select(n => new StopConfig { Id = $"stop-{n}", Steps = [] }).ToList();

        var plan = new StopPlan(new string('n', 128), "0123456789ab", stops[19], stops.Take(19).ToList(), IsLast: true);

        Assert.That(plan.SlipOf(until: null), Has.Length.LessThan(512).And.EndsWith(";stop-19"));
        Assert.That(plan.SlipOf(DateTimeOffset.MaxValue), Has.Length.LessThan(512));
    }

    [TestCase(null)]
    [TestCase("trip;0123456789ab;ship")]
    [TestCase("trip;0123456789ab;ship;4102444800", Description = "the year 2100")]
    [CancelAfter(30_000)]
    public async Task Message_whose_slip_has_not_expired_begins_its_stop(string? slip, CancellationToken cancellationToken)
    {
        using var processes = Compile("""[{ "itinerary": "trip" }]""", Trip);

        await ContinueAsync(processes, slip, run: null, cancellationToken);

        Assert.That(CallsOf(processes), Is.EqualTo(new[] { "backend" }));
        await processes
            .Service<IItineraryRuns>()
            .Received(1)
            .SaveAsync(
                Arg.Is<IReadOnlyList<ItineraryRun>>(runs => runs.Single().State == ItineraryState.Completed),
                Arg.Any<CancellationToken>()
            );
    }

    [TestCase(ItineraryState.Waiting, "ship", true)]
    [TestCase(ItineraryState.Waiting, "later", false, Description = "a copy: the message itself is at another stop")]
    [TestCase(ItineraryState.Completed, "ship", false, Description = "a copy: the message itself is at its end")]
    [CancelAfter(30_000)]
    public async Task Message_whose_slip_has_expired_begins_no_stop_and_undoes_those_before_unless_it_is_a_copy(
        ItineraryState state,
        string stop,
        bool undoes,
        CancellationToken cancellationToken
    )
    {
        using var processes = Compile("""[{ "itinerary": "trip" }]""", Trip);

        await ContinueAsync(
            processes,
            "trip;0123456789ab;ship;1767225600",
            new ItineraryRun(Guid.Empty, "trip", stop, state, Guid.Empty),
            cancellationToken
        );

        Assert.That(CallsOf(processes), Is.EqualTo(undoes ? new[] { "shop-db" } : []));
        await processes
            .Service<IItineraryRuns>()
            .Received(undoes ? 1 : 0)
            .SaveAsync(
                Arg.Is<IReadOnlyList<ItineraryRun>>(runs =>
                    runs.Single().State == ItineraryState.Compensated && runs.Single().Code == "ESB-ITIN-EXPIRED"
                ),
                Arg.Any<CancellationToken>()
            );
        await processes
            .Service<IDeadLetterChannel>()
            .Received(1)
            .KeepAsync(Arg.Is<DeadLetter>(letter => letter.Code == "ESB-ITIN-EXPIRED"), Arg.Any<CancellationToken>());
    }

    private const string Trip = """
        "trip": { "timeout": "1d", "stops": [
          { "id": "book", "steps": [{ "log": "book" }], "compensate": [{ "call": "shop-db" }] },
          { "id": "ship", "durable": true, "steps": [{ "call": "backend" }] },
          { "id": "later", "steps": [{ "log": "later" }] }
        ] }
        """;

    // As from the queue of the itinerary.
    private static async Task ContinueAsync(
        CompiledProcesses processes,
        string? slip,
        ItineraryRun? run,
        CancellationToken cancellationToken
    )
    {
        var message = Some.Message("{}");
        if (slip is not null)
            message = message with { Headers = message.Headers.With(EsbHeaders.Itinerary, slip) };
        processes.Service<IItineraryRuns>().FindAsync(message.Id, Arg.Any<CancellationToken>()).Returns(run);
        await processes
            .Service<IProcessCatalog>()
            .FindBehind("itinerary:trip", "ship")!
            .RunAsync(new MessageContext(message, "itinerary:trip"), cancellationToken);
    }

    private static IEnumerable<string> CallsOf(CompiledProcesses processes) =>
        processes.Caller.ReceivedCalls().Select(call => (string)call.GetArguments()[0]!);

    [Test, CancelAfter(30_000)]
    public async Task Failing_stop_undoes_those_before_it_backwards_with_the_message_as_it_came(CancellationToken cancellationToken)
    {
        using var processes = Compile(
            """[{ "itinerary": "trip" }]""",
            """
            "trip": { "stops": [
              { "id": "flight", "steps": [{ "call": "backend" }], "compensate": [{ "set": { "headers": { "x-undo": "flight" } } }, { "call": "shop-db" }] },
              { "id": "hotel", "steps": [{ "log": "no need to undo" }] },
              { "id": "car", "steps": [{ "log": "car" }], "compensate": [{ "set": { "headers": { "x-undo": "car" } } }, { "call": "shop-db" }] },
              { "id": "pay", "steps": [{ "set": { "headers": { "x-undo": "changed" } } }, { "fail": { "reason": "no money", "code": "NO-MONEY" } }] }
            ] }
            """
        );
        var undone = new List<string?>();
        processes
            .Caller.CallAsync("shop-db", Arg.Any<EsbMessage>(), Arg.Any<IUnitOfWork?>(), Arg.Any<CancellationToken>())
            .Returns(call =>
            {
                undone.Add(call.Arg<EsbMessage>().Headers["x-undo"]);
                return undone.Count == 1
                    ? throw new EsbException("ESB-AWAY", "The car firm is away.", FaultKind.Unavailable)
                    : (EsbMessage?)null;
            });

        var failure = Assert.ThrowsAsync<EsbException>(() => processes.RunAsync(Some.Message("{}"), cancellationToken))!;

        Assert.That(failure.Code, Is.EqualTo("NO-MONEY"), "the failure of the stop, not that of a compensation");
        Assert.That(undone, Is.EqualTo(new[] { "car", "flight" }), "one that fails keeps no other from being undone");
        await processes.Service<IItineraryRuns>().DidNotReceiveWithAnyArgs().SaveAsync(default!, default);
    }

    private static CompiledProcesses Compile(string process, string itineraries = $"{Plain}, {Durable}") =>
        new(
            $$"""{ "main": {{process}} }""",
            sections: $$""" "itineraries": { {{itineraries}} },""",
            register: services =>
                services
                    .AddSingleton(Substitute.For<IItineraryRuns>())
                    .AddSingleton(Substitute.For<IDeadLetterChannel>())
                    .AddSingleton<IAuditTrail>(new AuditLog())
        );
}
