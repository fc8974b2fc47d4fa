using System.Text;
using Esb.Content.Formats;
using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Esb.Tests.Fakes;
using Microsoft.Extensions.DependencyInjection;
using NSubstitute;

namespace Esb.Tests.Workflows.Processes;

[CancelAfter(30_000), FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class SplitStepTests
{
    private const string Each =
        """{ "jsonpath": "$.lines[*]", "steps": [{ "filter": { "not": { "jsonpath": "$.skip" } } }, { "set": { "headers": { "x-index": { "property": "split.index" } } } }, { "publish": "orders.line" }] }""";

    private readonly List<DeadLetter> _letters = [];
    private readonly List<(Guid Id, string Body, string? Index)> _published = [];
    private readonly KeptMarks _marks = new();
    private readonly AuditLog _audit = new();
    private EsbException? _failure;
    private int _failsAfter = int.MaxValue;
    private TaskCompletionSource? _settled;

    [Test]
    public async Task Each_value_is_published_under_an_id_of_its_own_that_repeats(CancellationToken cancellationToken)
    {
        using var processes = Compile(Each);
        var message = Some.Message("""{ "lines": [{ "n": 1 }, { "skip": true }, "x"] }""", contentType: "application/json");

        var context = await processes.RunAsync(message, cancellationToken);
        var again = await processes.RunAsync(message, cancellationToken);

        var first = _published.Take(2).ToList();
        Assert.That(first.Select(item => (item.Body, item.Index)), Is.EqualTo(new[] { ("""{ "n": 1 }""", "0"), ("\"x\"", "2") }));
        Assert.That(
            first.Select(item => item.Id),
            Is.EqualTo(new[] { MessageIds.Derive(message.Id, "split parts 0"), MessageIds.Derive(message.Id, "split parts 2") })
        );
        Assert.That(_published.Skip(2), Is.EqualTo(first), "a repetition publishes the same");
        Assert.That(
            (context.Message.Body.ReadText(), context.GetProperty("split.items"), context.GetProperty("split.failed")),
            Is.EqualTo((message.Body.ReadText(), 3.0, 0.0))
        );
        Assert.That(again.Outcome, Is.EqualTo(ProcessOutcome.Running), "a filter ends its item alone");
    }

    [Test]
    public async Task Each_element_is_a_document_with_the_namespaces_in_scope(CancellationToken cancellationToken)
    {
        using var processes = Compile("""{ "xpath": "/*/*[local-name() = 'line']", "steps": [{ "publish": "orders.line" }] }""");
        const string Xml =
            "<a:order xmlns:a='urn:a' xmlns='urn:d' xmlns:t='urn:t'>\n<line a:x='1'>&lt;1</line><other/><a:line "
            + "k='t:v'><b/></a:line></a:order>";

        await processes.RunAsync(Some.Message(Xml), cancellationToken);

        Assert.That(
            _published.Select(item => item.Body),
            Is.EqualTo(
                    new[]
                    {
                        """<line xmlns:t="urn:t" xmlns:a="urn:a" a:x="1" xmlns="urn:d">&lt;1</line>""",
                        """<a:line xmlns:t="urn:t" xmlns="urn:d" k="t:v" xmlns:a="urn:a"><b /></a:line>""",
                    }
                )
                .Using<string>((actual, expected) => System.Xml.Linq.XNode.DeepEquals(Sorted(actual), Sorted(expected)))
        );
    }

    [Test, Property("Case", "FLT-11")]
    public async Task Bad_row_is_a_dead_letter_with_its_place_and_the_others_go_on(CancellationToken cancellationToken)
    {
        using var processes = Compile("""{ "format": "rows", "steps": [{ "publish": "orders.line" }] }""");
        var message = Some.Message("n\n1\nx\n3\n");

        var context = await processes.RunAsync(message, cancellationToken);

        Assert.That(_published.Select(item => item.Body), Is.EqualTo(new[] { """{"n":1}""", """{"n":3}""" }));
        var letter = _letters.Single();
        Assert.That((letter.Endpoint, letter.Code, letter.Message.Body.ReadText()), Is.EqualTo(("an-endpoint", "ESB-FLAT-FORMAT", "x")));
        Assert.That(letter.Message.Id, Is.EqualTo(MessageIds.Derive(message.Id, "split parts 1")));
        Assert.That(letter.Reason, Does.Contain($"Item 1 at line 3 of message {message.Id}").And.Contain("line 3, column 1, field n"));
        Assert.That((context.GetProperty("split.items"), context.GetProperty("split.failed")), Is.EqualTo((3.0, 1.0)));
    }

    [Test]
    public async Task Item_that_a_step_refuses_is_a_dead_letter_with_the_step(CancellationToken cancellationToken)
    {
        using var processes = Compile(
            """{ "jsonpath": "$[*]", "steps": [{ "choose": { "when": [{ "if": { "jsonpath": "$.bad" }, "steps": [{ "id": "refuse", "fail": "no" }] }] } }, { "publish": "orders.line" }] }"""
        );

        await processes.RunAsync(Some.Message("""[{ "bad": true }, { "n": 2 }]"""), cancellationToken);

        Assert.That(
            (_letters.Single().Code, _letters.Single().Message.Body.ReadText()),
            Is.EqualTo(("ESB-PROC-REFUSED", """{ "bad": true }"""))
        );
        Assert.That(_letters.Single().Reason, Does.Contain("step refuse: no"));
        Assert.That(_published.Select(item => item.Body), Is.EqualTo(new[] { """{ "n": 2 }""" }));
    }

    [Test]
    public void More_failures_than_allowed_fail_the_message(CancellationToken cancellationToken)
    {
        using var processes = Compile("""{ "format": "rows", "maxFailed": 1, "steps": [{ "publish": "orders.line" }] }""");

        var error = Assert.ThrowsAsync<EsbException>(() => processes.RunAsync(Some.Message("n\n1\nx\ny\n4\n"), cancellationToken))!;

        Assert.That((error.Code, error.Kind), Is.EqualTo(("ESB-SPLIT-FAILED", FaultKind.Invalid)));
        Assert.That((_letters.Count, _published.Count), Is.EqualTo((2, 1)));
    }

    [Test]
    public void Text_that_cannot_be_divided_any_more_fails_the_message_after_the_items_before(CancellationToken cancellationToken)
    {
        using var processes = Compile("""{ "format": "rows", "steps": [{ "publish": "orders.line" }] }""");

        var error = Assert.ThrowsAsync<FormatFaultException>(() =>
            processes.RunAsync(Some.Message("n\n1\n2\n\"3\n4\n"), cancellationToken)
        )!;

        Assert.That((error.Code, error.Line), Is.EqualTo(("ESB-FLAT-QUOTE", 4)));
        Assert.That((_letters.Count, _published.Count), Is.EqualTo((0, 2)));
    }

    [Test]
    public void Topic_that_is_not_available_fails_the_message_and_not_the_item(CancellationToken cancellationToken)
    {
        using var processes = Compile("""{ "jsonpath": "$[*]", "steps": [{ "publish": "orders.line" }] }""");
        _failure = new EsbException("ESB-TOPIC-UNAVAILABLE", "away", FaultKind.Unavailable);

        var error = Assert.ThrowsAsync<EsbException>(() => processes.RunAsync(Some.Message("[1]"), cancellationToken))!;

        Assert.That((error.Code, _letters.Count), Is.EqualTo(("ESB-TOPIC-UNAVAILABLE", 0)));
    }

    [Test]
    public async Task Results_of_the_items_are_gathered_in_their_order(CancellationToken cancellationToken)
    {
        using var processes = Compile(
            """{ "jsonpath": "$[*]", "gather": "array", "steps": [{ "filter": { "not": { "jsonpath": "$.skip" } } }, { "convert": { "to": "xml", "root": "a" } }, { "choose": { "when": [{ "if": { "xpath": "/a/n = 2" }, "steps": [{ "convert": "json" }] }] } }] }"""
        );

        var context = await processes.RunAsync(Some.Message("""[{ "n": 1 }, { "skip": true }, { "n": 2 }]"""), cancellationToken);

        Assert.That(
            context.Message.Body.ReadText(),
            Is.EqualTo("""["<?xml version=\"1.0\" encoding=\"utf-8\"?><a><n>1</n></a>",{"a":{"n":"2"}}]""")
        );
        Assert.That((context.Message.ContentType, context.GetProperty("split.items")), Is.EqualTo(("application/json", 3.0)));
    }

    [Test]
    public async Task Split_within_a_split_and_a_second_run_give_other_ids(CancellationToken cancellationToken)
    {
        using var processes = Compile(
            """{ "jsonpath": "$[*]", "steps": [{ "id": "inner", "split": { "jsonpath": "$[*]", "steps": [{ "publish": "orders.a" }, { "publish": "orders.b" }] } }] }""",
            twice: true
        );

        await processes.RunAsync(Some.Message("[[1, 2], [3]]"), cancellationToken);

        Assert.That(_published, Has.Count.EqualTo(12));
        Assert.That(_published.Select(item => item.Id).Distinct().Count(), Is.EqualTo(12));
    }

    [TestCase("""{ "jsonpath": "$[", "steps": [{ "publish": "orders.a" }] }""", "ESB-JPT-SYNTAX")]
    [TestCase("""{ "xpath": "count(/a)", "steps": [{ "publish": "orders.a" }] }""", "ESB-XPT-SYNTAX")]
    [TestCase("""{ "format": "fixed", "steps": [{ "publish": "orders.a" }] }""", "ESB-CFG-VALUE")]
    [TestCase("""{ "format": "nothing", "steps": [{ "publish": "orders.a" }] }""", "ESB-CFG-REF")]
    [TestCase("""{ "jsonpath": "$[*]", "xpath": "/a", "steps": [{ "publish": "orders.a" }] }""", "ESB-CFG-ONEOF")]
    [TestCase(
        """{ "jsonpath": "$[*]", "mode": "all-or-nothing", "maxFailed": 1, "steps": [{ "publish": "orders.a" }] }""",
        "ESB-CFG-VALUE"
    )]
    [TestCase("""{ "jsonpath": "$[*]", "mode": "all-or-nothing", "steps": [{ "call": "backend" }] }""", "ESB-CFG-VALUE")]
    [TestCase("""{ "jsonpath": "$[*]", "mode": "all-or-nothing", "steps": [{ "request": "orders.query" }] }""", "ESB-CFG-VALUE")]
    [TestCase(
        """{ "jsonpath": "$[*]", "mode": "all-or-nothing", "steps": [{ "enrich": { "call": "backend", "into": { "property": "a" } } }] }""",
        "ESB-CFG-VALUE"
    )]
    [TestCase(
        """{ "jsonpath": "$[*]", "mode": "all-or-nothing", "steps": [{ "transaction": { "connection": "shop", "steps": [{ "publish": "orders.a" }] } }] }""",
        "ESB-CFG-VALUE"
    )]
    [TestCase("""{ "jsonpath": "$[*]", "steps": [] }""", "ESB-CFG-VALUE")]
    public void Settings_that_cannot_be_used_are_configuration_errors(string split, string code)
    {
        using var processes = Compile(split);

        Assert.That(processes.Errors.All.Single().Code, Is.EqualTo(code));
    }

    [Test]
    public async Task Repetition_goes_on_behind_the_last_window(CancellationToken cancellationToken)
    {
        using var processes = Compile("""{ "format": "rows", "steps": [{ "publish": "orders.line" }] }""");
        var message = Some.Message(
            "n\n" + string.Concat(Enumerable.Range(0, 2_000).Select(number => number == 300 ? "x\n" : $"{number}\n"))
        );
        _failsAfter = 700;

        Assert.ThrowsAsync<EsbException>(() => processes.RunAsync(message, cancellationToken));
        _failsAfter = int.MaxValue;
        var context = await processes.RunAsync(message, cancellationToken);

        Assert.That(_published.Select(item => item.Id).Distinct().Count(), Is.EqualTo(1_999), "nothing is lost, and ids repeat");
        Assert.That(_published.Count - 1_999, Is.LessThanOrEqualTo(256), "at most one window is published again");
        Assert.That(
            (context.GetProperty("split.items"), context.GetProperty("split.failed"), _letters.Count, _marks.Count),
            Is.EqualTo((2000.0, 1.0, 1, 0))
        );
    }

    [Test]
    public void Repetition_begins_anew_where_a_kill_loses_what_has_not_arrived(CancellationToken cancellationToken)
    {
        using var processes = Compile("""{ "format": "rows", "steps": [{ "publish": "orders.line" }] }""");
        var message = Some.Message("n\n" + string.Concat(Enumerable.Range(0, 2_000).Select(number => $"{number}\n")));
        _settled = new TaskCompletionSource();
        _failsAfter = 700;

        Assert.ThrowsAsync<EsbException>(() => processes.RunAsync(message, cancellationToken));

        Assert.That(_marks.Count, Is.Zero);
    }

    [Test]
    public async Task End_of_an_interchange_is_a_fact_with_its_counts(CancellationToken cancellationToken)
    {
        using var processes = Compile("""{ "format": "rows", "maxFailed": 1, "steps": [{ "publish": "orders.line" }] }""");

        await processes.RunAsync(Some.Message("n\n1\nx\n3\n"), cancellationToken);
        Assert.ThrowsAsync<EsbException>(() => processes.RunAsync(Some.Message("n\nx\ny\n"), cancellationToken));

        Assert.That(
            _audit.Facts.Select(fact => (fact.Name, fact.Code, fact.Fields["items"], fact.Fields["failed"])),
            Is.EqualTo(new[] { ("interchange-ended", (string?)null, "3", "1"), ("interchange-ended", "ESB-SPLIT-FAILED", "2", "2") })
        );
    }

    [Test]
    public async Task Items_run_at_once_up_to_the_number_given_and_are_counted_in_their_order(CancellationToken cancellationToken)
    {
        using var processes = Compile("""{ "format": "rows", "maxConcurrentItems": 3, "steps": [{ "publish": "orders.line" }] }""");
        var confirmed = new TaskCompletionSource();
        processes.Publisher.PublishAsync(default!, default!, default!, default).ReturnsForAnyArgs(_ => new ValueTask(confirmed.Task));

        var running = processes.RunAsync(Some.Message("n\n1\n2\nx\n4\n5\n6\n"), cancellationToken);
        var atOnce = _published.Count; // sent before anything is confirmed
        confirmed.SetResult();
        var context = await running;

        Assert.That(atOnce, Is.EqualTo(2), "of three items one has a fault");
        Assert.That(
            _published.Select(item => item.Body),
            Is.EqualTo(new[] { """{"n":1}""", """{"n":2}""", """{"n":4}""", """{"n":5}""", """{"n":6}""" })
        );
        Assert.That((context.GetProperty("split.items"), context.GetProperty("split.failed")), Is.EqualTo((6.0, 1.0)));
        Assert.That(_letters.Single().Reason, Does.Contain("Item 2 at line 4"));
    }

    [Test]
    public async Task Place_that_is_kept_is_behind_the_items_that_are_done_also_where_a_later_one_was_faster(
        CancellationToken cancellationToken
    )
    {
        using var processes = Compile("""{ "format": "rows", "maxConcurrentItems": 256, "steps": [{ "publish": "orders.line" }] }""");
        var text = $"n\n{string.Concat(Enumerable.Range(0, 2_000).Select(n => $"{n}\n"))}";
        var message = Some.Message(text);
        var count = 0;
        processes
            .Publisher.PublishAsync(default!, default!, default!, default)
            .ReturnsForAnyArgs(_ =>
                Interlocked.Increment(ref count) == 1_000
                    ? ValueTask.FromException(new EsbException("ESB-TOPIC-UNAVAILABLE", "away", FaultKind.Unavailable))
                    : ValueTask.CompletedTask
            );

        Assert.ThrowsAsync<EsbException>(() => processes.RunAsync(message, cancellationToken));
        var before = _published.ToList();
        await processes.RunAsync(message, cancellationToken);

        Assert.That(
            _published.Select(item => item.Body).Distinct(),
            Is.EquivalentTo(Enumerable.Range(0, 2_000).Select(n => $$"""{"n":{{n}}}""")),
            "none is lost"
        );
        Assert.That(_published.Select(item => item.Id).Distinct().Count(), Is.EqualTo(2_000), "again under the same ids");
        Assert.That(before, Has.Count.InRange(1_000, 1_256), "at most a window beyond the failure");
        Assert.That(_published, Has.Count.LessThanOrEqualTo(2_000 + (2 * 256)), "at most a window and what ran at once");
    }

    [Test]
    public void Items_before_the_place_where_a_text_cannot_be_divided_any_more_are_done(CancellationToken cancellationToken)
    {
        using var processes = Compile("""{ "format": "rows", "maxConcurrentItems": 8, "steps": [{ "publish": "orders.line" }] }""");
        processes
            .Publisher.PublishAsync(default!, default!, default!, default)
            .ReturnsForAnyArgs(_ => new ValueTask(Task.Delay(1, cancellationToken)));

        var error = Assert.ThrowsAsync<FormatFaultException>(() => processes.RunAsync(Some.Message("n\n1\n2\n\"3"), cancellationToken))!;

        Assert.That((error.Code, _published.Count), Is.EqualTo(("ESB-FLAT-QUOTE", 2)));
        Assert.That(_audit.Facts.Single().Fields["items"], Is.EqualTo("2"));
    }

    [Test]
    public async Task Letter_of_an_item_quotes_nothing_that_is_masked_in_the_item(CancellationToken cancellationToken)
    {
        using var processes = Compile("""{ "format": "rows", "steps": [{ "publish": "orders.line" }] }""");
        processes
            .Publisher.WhenForAnyArgs(each => each.PublishAsync(default!, default!, default!, default))
            .Do(_ => throw new EsbException("ESB-TOPIC-UNKNOWN", "The card 4222 is refused.", FaultKind.Invalid));
        var context = Some.Context(Some.Message("n\n4222\n"));
        MaskedFlow.Follow(new SecretNumbers(), context);

        await processes.RunAsync(context, cancellationToken);

        Assert.That(_letters.Single().Reason, Does.EndWith("The card **** is refused."));
    }

    [Test]
    public void Place_is_kept_where_only_later_items_have_not_arrived(CancellationToken cancellationToken)
    {
        using var processes = Compile("""{ "format": "rows", "maxConcurrentItems": 256, "steps": [{ "publish": "orders.line" }] }""");
        var text = $"n\n{string.Concat(Enumerable.Range(0, 400).Select(n => $"{1_000_000_000_000 + n}\n"))}";
        var waits = new TaskCompletionSource();
        processes
            .Publisher.WhenForAnyArgs(each => each.PublishAsync(default!, default!, default!, default))
            .Do(call =>
            {
                var n = call.Arg<MessageContext>().GetProperty("split.index");
                if (n is 300.0)
                    call.Arg<MessageContext>().AwaitSettled(waits.Task);
                if (n is 350.0)
                    throw new EsbException("ESB-TOPIC-UNAVAILABLE", "away", FaultKind.Unavailable);
            });

        Assert.ThrowsAsync<EsbException>(() => processes.RunAsync(Some.Message(text), cancellationToken));

        Assert.That(_marks.Count, Is.EqualTo(1), "the first 256 have arrived");
    }

    [Test]
    public void Items_that_ran_beside_the_one_that_failed_the_whole_are_counted(CancellationToken cancellationToken)
    {
        using var processes = Compile(
            """{ "format": "rows", "maxFailed": 0, "maxConcurrentItems": 8, "steps": [{ "publish": "orders.line" }] }"""
        );

        var error = Assert.ThrowsAsync<EsbException>(() => processes.RunAsync(Some.Message("n\n1\nx\n3\ny\n5\n"), cancellationToken))!;

        var fields = _audit.Facts.Single().Fields;
        Assert.That(error.Code, Is.EqualTo("ESB-SPLIT-FAILED"));
        Assert.That((_published.Count, _letters.Count), Is.EqualTo((3, 2)));
        Assert.That((fields["items"], fields["failed"]), Is.EqualTo(("5", "2")));
    }

    [Test]
    public async Task Item_whose_key_another_one_holds_runs_again_behind_it(CancellationToken cancellationToken)
    {
        var claims = new HeldClaims();
        using var processes = Compile(
            """{ "format": "rows", "maxConcurrentItems": 4, "steps": [{ "dedupe": { "key": { "jsonpath": "$.n" } } }, { "publish": "orders.line" }] }""",
            register: services => services.AddSingleton<IIdempotencyKeys>(claims)
        );
        var confirmed = new TaskCompletionSource();
        processes.Publisher.PublishAsync(default!, default!, default!, default).ReturnsForAnyArgs(_ => new ValueTask(confirmed.Task));

        var running = processes.RunAsync(Some.Message("n\n1\n1\n2\n1\n"), cancellationToken);
        confirmed.SetResult();
        var context = await running;

        Assert.That(_published.Select(item => item.Body), Is.EqualTo(new[] { """{"n":1}""", """{"n":2}""" }));
        Assert.That((context.GetProperty("split.items"), context.GetProperty("split.failed")), Is.EqualTo((4.0, 0.0)));
    }

    [
        TestCase("""{ "jsonpath": "$[*]", "mode": "all-or-nothing", "maxConcurrentItems": 2, "steps": [{ "publish": "orders.line" }] }"""),
        TestCase("""{ "jsonpath": "$[*]", "maxConcurrentItems": 2, "steps": [{ "set": { "state": { "a": { "jsonpath": "$" } } } }] }""")
    ]
    public void Items_that_depend_on_one_another_cannot_run_at_once(string split)
    {
        using var processes = Compile(split);

        Assert.That(processes.Errors.All.Select(error => error.Path), Is.EqualTo(new[] { "processes.main[0].split.maxConcurrentItems" }));
    }

    private CompiledProcesses Compile(string split, bool twice = false, Action<IServiceCollection>? register = null)
    {
        var letters = Substitute.For<IDeadLetterChannel>();
        letters.WhenForAnyArgs(each => each.KeepAsync(default!, default)).Do(call => _letters.Add(call.Arg<DeadLetter>()));
        var more =
            """{ "type": "csv", "columns": { "n": "integer" } }, "fixed": { "type": "flat", "records": [{ "name": "a", "fields": [{ "name": "x", "length": 1 }] }] }""";
        var steps = $$"""[{ "id": "parts", "split": {{split}} }]""";
        var processes = new CompiledProcesses(
            twice ? $$"""{ "main": [{ "run": "part" }, { "run": "part" }], "part": {{steps}} }""" : $$"""{ "main": {{steps}} }""",
            register: services =>
            {
                services.AddSingleton(letters).AddSingleton<IEndpointMarks>(_marks).AddSingleton<IAuditTrail>(_audit);
                register?.Invoke(services);
            },
            sections: "\"formats\": { \"rows\": " + more + " },"
        );
        processes
            .Publisher.WhenForAnyArgs(each => each.PublishAsync(default!, default!, default!, default))
            .Do(call =>
            {
                if (call.Arg<MessageContext>() is not { } context)
                    return; // a test says what is returned
                if (_failure is not null)
                    throw _failure;
                if (_published.Count == _failsAfter)
                    throw new EsbException("ESB-TOPIC-UNAVAILABLE", "away", FaultKind.Unavailable);
                if (_settled is not null)
                    context.AwaitSettled(_settled.Task);
                _published.Add(
                    (
                        context.NextPublishId(call.Arg<string>()),
                        Encoding.UTF8.GetString(context.Message.Body.Bytes.Span),
                        context.Message.Headers["x-index"]
                    )
                );
            });
        return processes;
    }

    /// <summary>Masks the numbers of the items, which are JSON; of the whole, which is none, it can read nothing.</summary>
    private sealed class SecretNumbers : IMessageMask
    {
        public bool IsEmpty => false;

        public MaskedMessage Apply(EsbMessage message) =>
            new(
                message,
                AuditBodyState.Masked,
                MaskedSecrets.From(message.ContentType == "application/json" ? new Dictionary<string, string> { ["4222"] = "****" } : [])
            );
    }

    private static System.Xml.Linq.XElement Sorted(string xml)
    {
        var element = System.Xml.Linq.XElement.Parse(xml);
        element.ReplaceAttributes(element.Attributes().OrderBy(attribute => attribute.Name.ToString(), StringComparer.Ordinal).ToList());
        return element;
    }
}
