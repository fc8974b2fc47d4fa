using System.Net;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd.Content;

/// <summary>Steps that ask other systems, remember, and let pass, on a whole host.</summary>
[CancelAfter(120_000)]
[System.Runtime.Versioning.UnsupportedOSPlatform("windows")]
[OwnProcess]
public abstract class ContentContract
{
    private protected ContentFixture Fixture { get; private set; } = null!;

    /// <summary>Transport and store.</summary>
    private protected abstract string Sections { get; }

    private protected const int Items = 300;

    [OneTimeSetUp]
    public async Task StartFixture() => Fixture = await ContentFixture.StartAsync(Sections);

    [OneTimeTearDown]
    public async Task StopFixture() => await Fixture.DisposeAsync();

    [Test]
    public async Task Answer_of_another_system_is_added_and_kept_for_the_next_message(CancellationToken cancellationToken)
    {
        var before = Fixture.Backend.CountOf("/crm/7");

        var first = await Fixture.PostAsync("/enrich", """{"customer":7}""", cancellationToken);
        var second = await Fixture.PostAsync("/enrich", """{"customer":7,"n":2}""", cancellationToken);
        var unknown = await Fixture.PostAsync("/enrich", """{"customer":8}""", cancellationToken);

        Assert.That(first, Is.EqualTo((HttpStatusCode.OK, """{"customer":7,"crm":{"name":"Ann"}}""")), Fixture.Host.Output);
        Assert.That(second.Body, Is.EqualTo("""{"customer":7,"n":2,"crm":{"name":"Ann"}}"""));
        Assert.That(unknown.Body, Is.EqualTo("""{"customer":8,"crm":{"name":"unknown"}}"""));
        Assert.That(Fixture.Backend.CountOf("/crm/7") - before, Is.EqualTo(1), "the second answer was kept");
    }

    [Test]
    public async Task Reply_from_a_topic_is_added(CancellationToken cancellationToken) =>
        Assert.That(
            await Fixture.PostAsync("/enrich-topic", """{"parcel":1}""", cancellationToken),
            Is.EqualTo((HttpStatusCode.OK, """{"parcel":1,"offer":{"price":7}}"""))
        );

    [Test]
    public async Task Several_systems_are_asked_at_once_and_their_answers_stand_in_the_order_named(CancellationToken cancellationToken)
    {
        var (status, body) = await Fixture.PostAsync("/scatter", "{}", cancellationToken);

        Assert.That(status, Is.EqualTo(HttpStatusCode.OK), body);
        Assert.That(
            body.Replace(" ", "", StringComparison.Ordinal),
            Is.EqualTo("""[{"from":"dhl","status":200,"body":{"price":7}},{"from":"ups","status":200,"body":{"price":9}}]""")
        );
    }

    [Test]
    public async Task First_good_answer_is_enough_while_one_system_hangs_and_one_refuses(CancellationToken cancellationToken)
    {
        var began = TimeProvider.System.GetTimestamp();

        var answer = await Fixture.PostAsync("/scatter-any", "{}", cancellationToken);

        Assert.That(answer, Is.EqualTo((HttpStatusCode.OK, """{"price":9}""")));
        Assert.That(TimeProvider.System.GetElapsedTime(began), Is.LessThan(TimeSpan.FromSeconds(20)), "the time limit of the step");
    }

    [Test]
    public async Task Several_subjects_are_requested_at_once(CancellationToken cancellationToken)
    {
        var (status, body) = await Fixture.PostAsync("/scatter-topics", "{}", cancellationToken);

        Assert.That(status, Is.EqualTo(HttpStatusCode.OK), body);
        Assert.That(
            body,
            Does.Contain("prices.dhl").And.Contain("prices.ups").And.Contain("""{"price":7}""").And.Contain("""{"price":9}""")
        );
    }

    [Test]
    public async Task Message_is_published_to_those_that_it_names_and_to_nobody_where_one_is_not_allowed(
        CancellationToken cancellationToken
    )
    {
        var refused = await Fixture.PostAsync("/recipients", """{"n":0}""", cancellationToken, ("x-to", "partners.a, secrets.b"));
        var accepted = await Fixture.PostAsync("/recipients", """{"n":1}""", cancellationToken, ("x-to", "partners.a,partners.b"));

        Assert.That(refused.Status, Is.EqualTo(HttpStatusCode.UnprocessableEntity));
        Assert.That(refused.Body, Does.Contain("ESB-RCPT-ALLOW"));
        Assert.That(accepted.Status, Is.EqualTo(HttpStatusCode.Accepted), accepted.Body);
        Assert.That((await Fixture.WaitForFilesAsync("partner-a", 1, cancellationToken)).Values, Is.EqualTo(new[] { """{"n":1}""" }));
        Assert.That((await Fixture.WaitForFilesAsync("partner-b", 1, cancellationToken)).Values, Is.EqualTo(new[] { """{"n":1}""" }));
    }

    [Test]
    public async Task Messages_keep_their_distance_and_those_that_may_not_wait_are_told_when_to_come_again(
        CancellationToken cancellationToken
    )
    {
        var answers = await Task.WhenAll(Enumerable.Range(0, 6).Select(_ => Fixture.PostAsync("/throttle", "{}", cancellationToken)));
        var at = Fixture.Backend.Requests.Where(request => request.Path == "/throttled").Select(request => request.At).Order().ToList();
        var passed = await Fixture.PostAsync("/throttle-none", "{}", cancellationToken);
        var turnedAway = await Fixture.PostAsync("/throttle-none", "{}", cancellationToken);

        Assert.That(answers.Select(answer => answer.Status), Has.All.EqualTo(HttpStatusCode.OK));
        Assert.That(at, Has.Count.EqualTo(6));
        Assert.That(
            TimeProvider.System.GetElapsedTime(at[0], at[^1]),
            Is.GreaterThan(TimeSpan.FromMilliseconds(800)),
            "the sixth has its turn a second after the first"
        );
        Assert.That(passed, Is.EqualTo((HttpStatusCode.OK, "passed")));
        Assert.That(turnedAway.Status, Is.EqualTo(HttpStatusCode.ServiceUnavailable));
        Assert.That(turnedAway.Body, Does.Contain("ESB-THROTTLE-TIMEOUT"));
    }

    [Test]
    public async Task Look_up_in_a_database_is_asked_once_for_each_key(CancellationToken cancellationToken)
    {
        var first = await Fixture.PostAsync("/size", """{"size":"s"}""", cancellationToken);
        var missing = await Fixture.PostAsync("/size", """{"size":"xl"}""", cancellationToken);
        await Fixture.Shop.ExecuteAsync(
            "update sizes set label = 'tiny' where code = 's'; insert into sizes values ('xl', 'huge'), ('m', 'middle')"
        );
        var kept = await Fixture.PostAsync("/size", """{"size":"s"}""", cancellationToken);
        var keptMissing = await Fixture.PostAsync("/size", """{"size":"xl"}""", cancellationToken);
        var other = await Fixture.PostAsync("/size", """{"size":"m"}""", cancellationToken);

        Assert.That(
            new[] { first, missing, kept, keptMissing, other }.Select(answer => answer.Body),
            Is.EqualTo(new[] { "small", "none", "small", "none", "middle" })
        );
    }

    [Test]
    public async Task Maps_look_up_entries_of_a_database_for_the_keys_that_they_find(CancellationToken cancellationToken)
    {
        await Fixture.Shop.ExecuteAsync("insert into sizes values ('map-1', 'first'), ('map-2', 'second')");

        var script = await Fixture.PostAsync("/sizes", """{"sizes":["map-1","map-3","map-2","map-1"]}""", cancellationToken);
        var template = await Fixture.PostAsync("/label", """{"code":"map-2"}""", cancellationToken);

        Assert.That(
            (script.Body, template.Body),
            Is.EqualTo(("""["first","none","second","first"]""", "second")),
            "a script and a template"
        );
    }

    [Test, Category("Thorough"), Order(1)]
    public async Task State_keys_that_were_seen_and_counters_survive_a_kill(CancellationToken cancellationToken)
    {
        var first = await Fixture.PostAsync("/state", """{"next":"2026-01-01"}""", cancellationToken);
        var failed = await Fixture.PostAsync("/state", """{"next":"lost","bad":true}""", cancellationToken);
        var accepted = await Fixture.PostAsync("/dedupe-refuse", """{"invoice":"killed"}""", cancellationToken);
        await Fixture.PostAsync("/once-answer", """{"invoice":"killed"}""", cancellationToken);
        var numbers = new List<string> { (await Fixture.PostAsync("/number", "{}", cancellationToken)).Body };
        await PostNumberedAsync(20, cancellationToken);
        await Fixture.WaitForFilesAsync("numbered", 20, cancellationToken);
        await Fixture.KillAndStartAsync(cancellationToken);
        numbers.Add((await Fixture.PostAsync("/number", "{}", cancellationToken)).Body);
        await PostNumberedAsync(5, cancellationToken);
        var files = await Fixture.WaitForFilesAsync("numbered", 25, cancellationToken);
        var second = await Fixture.PostAsync("/state", """{"next":"2026-02-01"}""", cancellationToken);
        var again = await Fixture.PostAsync("/dedupe-refuse", """{"invoice":"killed"}""", cancellationToken);

        Assert.That((first, second.Body), Is.EqualTo(((HttpStatusCode.OK, "[]"), "[2026-01-01]")), Fixture.Host.Output);
        Assert.That((int)failed.Status, Is.GreaterThanOrEqualTo(400));
        Assert.That((accepted.Status, again.Status), Is.EqualTo((HttpStatusCode.Accepted, HttpStatusCode.Conflict)));
        Assert.That(again.Body, Does.Contain("ESB-DEDUPE-DUPLICATE"));
        Assert.That(
            (await Fixture.PostAsync("/once-answer", """{"invoice":"killed"}""", cancellationToken)).Status,
            Is.EqualTo(HttpStatusCode.Conflict)
        );
        Assert.That(numbers, Is.EqualTo(new[] { "number 1", "number 2" }));
        Assert.That(files.Keys, Is.EquivalentTo(Enumerable.Range(1, 25).Select(number => $"{number:0000}.json")), "no gap, none twice");
    }

    [Test]
    public async Task Items_take_effect_all_or_not_at_all(CancellationToken cancellationToken)
    {
        var before = Fixture.CountFiles("all");

        var refused = await Fixture.PostAsync("/all", """[{"n":0},{"n":-1},{"bad":true},{"n":-2}]""", cancellationToken);
        var numbers = await PublishAllAsync(first: 1, cancellationToken);
        var files = await Fixture.WaitForFilesAsync("all", before + Items, cancellationToken);

        Assert.That((int)refused.Status, Is.InRange(400, 499), refused.Body);
        Assert.That(refused.Body, Does.Contain("Item 2, and none takes effect: not this one"));
        Assert.That(numbers, Is.SubsetOf(files.Values));
        Assert.That(files.Values, Has.None.Contains("-").And.None.EqualTo("""{"n":0}"""));
    }

    [Test]
    public async Task Of_many_messages_with_one_key_at_once_exactly_one_passes(CancellationToken cancellationToken)
    {
        var answers = await Task.WhenAll(
            Enumerable.Range(0, 20).Select(_ => Fixture.PostAsync("/dedupe", """{"invoice":"i-1"}""", cancellationToken))
        );
        await Fixture.WaitForFilesAsync("unique", 1, cancellationToken);
        var later = await Fixture.PostAsync("/dedupe", """{"invoice":"i-1"}""", cancellationToken);
        var other = await Fixture.PostAsync("/dedupe", """{"invoice":"i-2"}""", cancellationToken);

        Assert.That(
            answers.Select(answer => answer.Status),
            Has.All.EqualTo(HttpStatusCode.Accepted).Or.EqualTo(HttpStatusCode.ServiceUnavailable),
            "a second one that comes while the first is in work is told to come again"
        );
        Assert.That((later.Status, other.Status), Is.EqualTo((HttpStatusCode.Accepted, HttpStatusCode.Accepted)));
        Assert.That(
            (await Fixture.WaitForFilesAsync("unique", 2, cancellationToken)).Values,
            Is.EquivalentTo(new[] { """{"invoice":"i-1"}""", """{"invoice":"i-2"}""" })
        );
    }

    [Test]
    public async Task Endpoint_lets_one_of_many_messages_pass_and_answers_the_others_as_the_first(CancellationToken cancellationToken)
    {
        var answers = await Task.WhenAll(
            Enumerable.Range(0, 20).Select(_ => Fixture.PostAsync("/once", """{"invoice":"o-1"}""", cancellationToken))
        );
        var first = (await Fixture.WaitForFilesAsync("once", 1, cancellationToken)).Keys.Single();
        var later = await Fixture.PostAsync("/once", """{"invoice":"o-1","again":true}""", cancellationToken);
        var other = await Fixture.PostAsync("/once", """{"invoice":"o-2"}""", cancellationToken);
        var files = await Fixture.WaitForFilesAsync("once", 2, cancellationToken);

        Assert.That(
            answers.Select(answer => answer.Status),
            Has.All.EqualTo(HttpStatusCode.Accepted).Or.EqualTo(HttpStatusCode.ServiceUnavailable)
        );
        Assert.That((later.Status, other.Status), Is.EqualTo((HttpStatusCode.Accepted, HttpStatusCode.Accepted)));
        Assert.That(later.Body, Does.Contain(first[..36]), "the id of the first");
        Assert.That(files.Values, Is.EquivalentTo(new[] { """{"invoice":"o-1"}""", """{"invoice":"o-2"}""" }));
    }

    [Test]
    public async Task Endpoint_refuses_a_repetition_unless_the_first_one_failed(CancellationToken cancellationToken)
    {
        var failed = await Fixture.PostAsync("/once-answer", """{"invoice":"x","bad":true}""", cancellationToken);
        var first = await Fixture.PostAsync("/once-answer", """{"invoice":"x"}""", cancellationToken);
        var again = await Fixture.PostAsync("/once-answer", """{"invoice":"x"}""", cancellationToken);
        var next = await Fixture.PostAsync("/once-answer", """{"invoice":"y"}""", cancellationToken);

        Assert.That((int)failed.Status, Is.GreaterThanOrEqualTo(400).And.Not.EqualTo(409), failed.Body);
        Assert.That(
            (first.Status, first.Body),
            Is.EqualTo((HttpStatusCode.OK, "after [killed]")).Or.EqualTo((HttpStatusCode.OK, "after []"))
        );
        Assert.That((again.Status, again.Body.Contains("ESB-DEDUPE-DUPLICATE")), Is.EqualTo((HttpStatusCode.Conflict, true)));
        Assert.That(next, Is.EqualTo((HttpStatusCode.OK, "after [x]")), "the process keeps its state");
    }

    [Test]
    public async Task File_that_says_again_what_another_said_is_done_with_and_does_nothing(CancellationToken cancellationToken)
    {
        await Fixture.DropAsync("once-drop", "1.json", """{"invoice":"d-1"}""", cancellationToken);
        await Fixture.WaitForFilesAsync("once-drop/done", 1, cancellationToken);
        await Fixture.DropAsync("once-drop", "2.json", """{"invoice":"d-1","n":2}""", cancellationToken);
        await Fixture.WaitForFilesAsync("once-drop/done", 2, cancellationToken);
        await Fixture.DropAsync("once-drop", "3.json", """{"invoice":"d-3"}""", cancellationToken);
        await Fixture.WaitForFilesAsync("once-drop/done", 3, cancellationToken);

        Assert.That(
            (await Fixture.WaitForFilesAsync("dropped", 2, cancellationToken)).Values,
            Is.EquivalentTo(new[] { """{"invoice":"d-1"}""", """{"invoice":"d-3"}""" })
        );
    }

    [Test]
    public async Task Message_that_failed_may_come_again_with_its_key(CancellationToken cancellationToken)
    {
        var failed = await Fixture.PostAsync("/dedupe-refuse", """{"invoice":"f","bad":true}""", cancellationToken);
        var repeated = await Fixture.PostAsync("/dedupe-refuse", """{"invoice":"f"}""", cancellationToken);

        Assert.That((int)failed.Status, Is.GreaterThanOrEqualTo(400).And.Not.EqualTo(409), failed.Body);
        Assert.That(repeated.Status, Is.EqualTo(HttpStatusCode.Accepted), repeated.Body);
    }

    private async Task PostNumberedAsync(int count, CancellationToken cancellationToken)
    {
        var answers = await Task.WhenAll(
            Enumerable.Range(0, count).Select(n => Fixture.PostAsync("/numbered", $$"""{"n":{{n}}}""", cancellationToken))
        );
        Assert.That(answers.Select(answer => answer.Status), Has.All.EqualTo(HttpStatusCode.Accepted));
    }

    private protected async Task AssertPublishedAfterKillAsync(CancellationToken cancellationToken)
    {
        var before = Fixture.CountFiles("all");

        var numbers = await PublishAllAsync(first: 1_001, cancellationToken);
        await Fixture.KillAndStartAsync(cancellationToken);
        var files = await Fixture.WaitForFilesAsync("all", before + Items, cancellationToken);

        Assert.That(numbers, Is.SubsetOf(files.Values));
        Assert.That(files, Has.Count.EqualTo(before + Items), "none doubled");
    }

    private async Task<List<string>> PublishAllAsync(int first, CancellationToken cancellationToken)
    {
        var numbers = Enumerable.Range(first, Items).Select(number => $$"""{"n":{{number}}}""").ToList();
        var accepted = await Fixture.PostAsync("/all", $"[{string.Join(',', numbers)}]", cancellationToken);
        Assert.That(accepted.Status, Is.EqualTo(HttpStatusCode.Accepted), accepted.Body);
        return numbers;
    }
}
