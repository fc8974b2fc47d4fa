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

        Assert.That(plan.Slip, Has.Length.LessThan(512).And.EndsWith(";stop-19"));
    }

    [Test, CancelAfter(10_000)]
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
