using Esb.Configuration.Compiling;
using Esb.Core.Configuration.Settings;
using Esb.Core.Processes;
using Esb.Core.Topics;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Workflows.Processes;

/// <summary>A step that nobody knows but by what it says of itself.</summary>
public sealed class StepTraitsTests
{
    private static readonly StepTraits Publishes = new() { Publishes = [new Subject("orders.query")] };
    private static readonly StepTraits Requests = new() { Requests = [new Subject("orders.unheard")] };

    private const string Alone = """[{ "new": 1 }]""";
    private const string InTransaction = """[{ "transaction": { "connection": "shop", "steps": [{ "new": 1 }] } }]""";
    private const string Caught = """[{ "try": { "steps": [{ "new": 1 }], "catch": [{ "codes": ["SHOP-CLOSED"], "steps": [] }] } }]""";

    [Test]
    public void Step_is_refused_by_what_it_says_of_itself() =>
        Assert.Multiple(() =>
        {
            Assert.That(ErrorsOf(Requests, Alone), Is.EqualTo(["ESB-CFG-REQUEST processes.main[0].new"]), "nobody answers");
            Assert.That(ErrorsOf(Publishes, Alone, place: "a-folder"), Is.EqualTo(["ESB-CFG-LOOP endpoints.backend"]), "it comes back");
            Assert.That(ErrorsOf(new StepTraits { Runs = ["main"] }, Alone), Is.EqualTo(["ESB-CFG-CYCLE processes.main"]));
        });

    [Test]
    public void Step_is_refused_in_a_transaction_that_could_not_keep_its_promise_for_it()
    {
        StepTraits[] refused =
        [
            new() { Transaction = "shop" },
            new() { Requests = [new Subject("orders.query")] },
            new() { Calls = ["backend", "other-db"] },
        ];
        const string error = "ESB-CFG-TRANSACTION processes.main[0].transaction.steps[0].new";

        Assert.That(refused.Select(traits => ErrorsOf(traits, InTransaction).Single()), Is.All.EqualTo(error));
        Assert.That(ErrorsOf(new StepTraits { Calls = ["backend", "shop-db"] }, InTransaction), Is.Empty);
    }

    [Test]
    public void Step_that_hands_to_topics_keeps_its_process_waiting_while_they_are_away()
    {
        Assert.Multiple(() =>
        {
            Assert.That(NeedsTopics(Publishes), Is.True);
            Assert.That(NeedsTopics(new StepTraits { Requests = [new Subject("orders.query")] }), Is.True);
            Assert.That(NeedsTopics(new StepTraits { HandsToTopics = true }), Is.True, "under a subject that only the message tells");
            Assert.That(NeedsTopics(Publishes with { HandsToTopics = false }), Is.False, "best effort");
            Assert.That(NeedsTopics(new StepTraits { Runs = ["other"] }), Is.True, "by another process");
            Assert.That(NeedsTopics(Publishes, InTransaction), Is.False, "by the outbox");
            Assert.That(NeedsTopics(Publishes with { Transaction = "shop" }), Is.False, "by an outbox of its own");
        });
    }

    [TestCase("SHOP-OPEN", false)]
    [TestCase("SHOP-CLOSED", true)]
    public void Code_that_a_step_fails_with_may_be_caught(string code, bool isSound)
    {
        using var processes = Compile(new StepTraits { FailsWith = [code] }, Caught);

        Assert.That(processes.Errors.Any, Is.EqualTo(!isSound));
    }

    [Test]
    public void Step_that_makes_a_document_is_compared_with_those_that_read_it()
    {
        const string read = """[{ "new": 1 }, { "set": { "properties": { "id": { "jsonpath": "$.id" } } } }]""";
        using var xml = Compile(new StepTraits { ReplacesBody = true, Makes = new MapOutput("invoice", MadeKind.Xml) }, read);
        using var json = Compile(new StepTraits { ReplacesBody = true, Makes = new MapOutput("invoice", MadeKind.Json) }, read);

        var warning = xml.Errors.Warnings.Single();
        Assert.That((warning.Code, warning.Path), Is.EqualTo(("ESB-PROC-TYPE", "processes.main[1].set.properties.id.jsonpath")));
        Assert.That(json.Errors.Warnings, Is.Empty);
    }

    [Test]
    public void Databases_and_endpoints_of_steps_are_known_to_their_keepers()
    {
        var traits = new StepTraits { Transaction = "other", Calls = ["backend"] };
        using var processes = Compile(traits, """[{ "try": { "steps": [{ "new": 1 }] } }]""");
        var models = processes.Service<ProcessModels>();

        Assert.That((models.Transactions.Single(), models.Called.Single()), Is.EqualTo(("other", "backend")));
    }

    [Test]
    public void Step_behind_an_error_is_checked_all_the_same()
    {
        var errors = ErrorsOf(
            Requests,
            """
            [{ "filter": { "xpath": "///" } }, { "choose": { "when": [{ "if": { "xpath": "///" }, "steps": [{ "new": 1 }] }] } }]
            """
        );

        Assert.That(errors, Has.Count.EqualTo(3).And.Some.EqualTo("ESB-CFG-REQUEST processes.main[1].choose.when[0].steps[0].new"));
    }

    [Test, CancelAfter(30_000)]
    public async Task Step_asks_for_what_it_runs_on_once_when_its_process_is_put_into_service(CancellationToken cancellationToken)
    {
        var bound = 0;
        const string twice = """[{ "run": "inner" }, { "run": "inner" }]""";
        using var processes = Compile(
            StepTraits.None,
            twice,
            more: """, "inner": [{ "new": 1 }]""",
            bind: services =>
            {
                bound++;
                var publisher = services.GetRequiredService<ITopicPublisher>();
                return (context, token) => publisher.PublishAsync(context, new Subject("orders.new"), "new", token);
            }
        );
        Assert.That(bound, Is.Zero, "compiling binds nothing");

        await processes.RunAsync(Some.Message(), cancellationToken);
        await processes.RunAsync(Some.Message(), cancellationToken);

        Assert.That(bound, Is.EqualTo(1));
    }

    private static List<string> ErrorsOf(StepTraits traits, string steps, string place = "")
    {
        using var processes = Compile(traits, steps, place);
        return [.. processes.Errors.All.Select(error => $"{error.Code} {error.Path}")];
    }

    private static bool NeedsTopics(StepTraits traits, string steps = Alone)
    {
        using var processes = Compile(traits, steps);
        Assert.That(processes.Errors.All, Is.Empty);
        return processes.Main.NeedsTopics;
    }

    private static CompiledProcesses Compile(
        StepTraits traits,
        string steps,
        string place = "",
        string more = "",
        Func<IServiceProvider, MessageStep>? bind = null
    ) =>
        new(
            $$"""{ "main": {{steps}}, "other": [{ "publish": "orders.new" }]{{more}} }""",
            place,
            register: services =>
                services
                    .AddSingleton(new SettingsKind(typeof(StepConfig), "new", typeof(NewConfig), "For tests."))
                    .AddCompiling(ServiceDescriptor.Singleton<IStepFactory>(new NewStep(traits, bind)))
        );

    private sealed record NewConfig : SettingsRecord
    {
        [Setting("Anything.", Main = true)]
        public int Any { get; init; }
    }

    private sealed class NewStep(StepTraits traits, Func<IServiceProvider, MessageStep>? bind) : StepFactory<NewConfig>
    {
        public override string Kind => "new";

        protected override StepModel Compile(NewConfig settings, StepConfig step, IStepCompiler compiler) =>
            new(step, "new") { Traits = traits, Bind = bind ?? (_ => (_, _) => ValueTask.CompletedTask) };
    }
}
