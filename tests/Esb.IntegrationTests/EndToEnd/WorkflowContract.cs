using System.Net;
using System.Text.Json;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Npgsql;

namespace Esb.IntegrationTests.EndToEnd;

/// <summary>The samples of workflows on a whole host.</summary>
[CancelAfter(180_000)]
public abstract class WorkflowContract
{
    private protected static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);

    private DirectoryInfo _folder = null!;

    private protected RunningHost Host { get; private set; } = null!;

    private protected string Folder => _folder.FullName;

    /// <summary>Transport and store.</summary>
    private protected abstract string Sections { get; }

    /// <summary>True if a message that is accepted survives the host.</summary>
    private protected virtual bool KeepsAccepted => false;

    private protected virtual IReadOnlyDictionary<string, string> Variables => new Dictionary<string, string>();

    [TearDown]
    public async Task StopHost()
    {
        if (Host is { } started)
            await started.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test]
    public async Task Order_is_fulfilled_and_seen_on_its_way(CancellationToken cancellationToken)
    {
        await StartAsync("order-fulfilment", cancellationToken);
        await PostAsync("/orders", """{ "order": "a1" }""", cancellationToken);
        var waiting = await FindAsync("state=waiting&key=order%3Da1", 1, cancellationToken);
        var picture = await Host.ReadAsync($"/api/workflows/{waiting.GetProperty("id").GetString()}/diagram?format=svg", cancellationToken);
        var mermaid = await Host.ReadAsync($"/api/workflows/{waiting.GetProperty("id").GetString()}/diagram", cancellationToken);

        await PostAsync("/picked", """{ "order": "a1" }""", cancellationToken);

        var ended = await FindAsync("state=completed&name=fulfil-order", 1, cancellationToken);
        await WaitForFilesAsync("outcome", "orders.shipped-*", 1, cancellationToken);
        var history = await Host.AskAsync($"/api/workflows/{ended.GetProperty("id").GetString()}/history", cancellationToken);
        var journey = await Host.AskAsync($"/api/messages/{ended.GetProperty("startedBy").GetString()}", cancellationToken);
        using (Assert.EnterMultipleScope())
        {
            Assert.That(waiting.GetProperty("step").GetString(), Is.EqualTo("wait-for-picking"));
            Assert.That(picture, Does.StartWith("<svg").And.Contain("wait-for-picking"));
            Assert.That(mermaid, Does.StartWith("flowchart TD").And.Contain("current"));
            Assert.That(
                history.GetProperty("items").EnumerateArray().Select(line => line.GetProperty("version").GetInt32()),
                Is.EqualTo(new[] { 1, 2 })
            );
            Assert.That(
                journey.GetProperty("items").EnumerateArray().Select(fact => fact.GetProperty("endpoint").GetString()),
                Does.Contain("workflow:fulfil-order")
            );
        }
    }

    [Test, Category("Thorough"), Property("Case", "WFL-01")]
    public async Task Message_that_no_instance_took_is_replayed_to_the_one_that_began_later(CancellationToken cancellationToken)
    {
        await StartAsync("order-fulfilment", cancellationToken, workflow: "\"earlyMessages\": \"1s\",");
        await PostAsync("/picked", """{ "order": "a1" }""", cancellationToken);
        var letter = await FindLetterAsync("state=open");
        await PostAsync("/orders", """{ "order": "a1" }""", cancellationToken);
        await FindAsync("state=waiting&key=order%3Da1", 1, cancellationToken);

        await Host.TellAsync($"/api/dead-letters/{letter.GetProperty("id").GetString()}/replay", cancellationToken);

        var ended = await FindAsync("state=completed", 1, cancellationToken);
        await FindLetterAsync("state=replayed");
        Assert.That(letter.GetProperty("code").GetString(), Is.EqualTo("ESB-WFL-NOMATCH"));
        Assert.That(ended.GetProperty("workflow").GetString(), Is.EqualTo("fulfil-order"));

        async Task<JsonElement> FindLetterAsync(string filter)
        {
            JsonElement found = default;
            await Host.WaitAsync(
                async token =>
                {
                    var letters = (await Host.AskAsync($"/api/dead-letters?{filter}", token)).GetProperty("items");
                    if (letters.GetArrayLength() == 1)
                        found = letters[0];
                    return found.ValueKind == JsonValueKind.Object;
                },
                Limit,
                $"to have a dead letter with {filter}",
                cancellationToken
            );
            return found;
        }
    }

    [Test]
    public async Task Activity_takes_its_milestones_from_a_workflow(CancellationToken cancellationToken)
    {
        const string Activities = """
            "activities": {
              "fulfilment": {
                "key": "workflow.instance",
                "milestones": [
                  { "name": "ordered", "when": { "kind": "delivered", "workflow": "fulfil-order", "subject": "orders.accepted" } },
                  { "name": "picked", "when": { "kind": "delivered", "workflow": "fulfil-order", "subject": "warehouse.picked" } },
                  { "name": "shipped", "when": { "kind": "published", "workflow": "fulfil-order", "subject": "orders.shipped" } }
                ]
              }
            },
            """;
        await StartAsync("order-fulfilment", cancellationToken, Activities);
        foreach (var order in new[] { "a1", "a2" })
            await PostAsync("/orders", $$"""{ "order": "{{order}}" }""", cancellationToken);
        await FindAsync("state=waiting", 2, cancellationToken);
        await PostAsync("/picked", """{ "order": "a1" }""", cancellationToken);

        var ended = await FindAsync("state=completed", 1, cancellationToken);
        JsonElement item = default;
        await Host.WaitAsync(
            async token =>
            {
                var items = (await Host.AskAsync("/api/activities/fulfilment/items?state=completed", token)).GetProperty("items");
                if (items.GetArrayLength() == 1)
                    item = items[0];
                return item.ValueKind == JsonValueKind.Object;
            },
            Limit,
            "to follow the instance to its end",
            cancellationToken
        );
        var running = await Host.AskAsync("/api/activities/fulfilment/items?state=in-progress", cancellationToken);
        Assert.That(item.GetProperty("key").GetString(), Is.EqualTo(ended.GetProperty("id").GetString()));
        Assert.That(
            item.GetProperty("milestones").EnumerateObject().Select(milestone => milestone.Name),
            Is.EquivalentTo(new[] { "ordered", "picked", "shipped" })
        );
        Assert.That(running.GetProperty("items").GetArrayLength(), Is.EqualTo(1));
    }

    [Test, Category("Thorough")]
    public async Task Time_is_ended_by_an_operator_and_the_order_is_late(CancellationToken cancellationToken)
    {
        await StartAsync("order-fulfilment", cancellationToken);
        await PostAsync("/orders", """{ "order": "a1" }""", cancellationToken);
        var id = (await FindAsync("state=waiting", 1, cancellationToken)).GetProperty("id").GetString();

        await Host.TellAsync($"/api/workflows/{id}/fire", cancellationToken);

        var ended = await FindAsync("state=terminated", 1, cancellationToken);
        await WaitForFilesAsync("outcome", "orders.late-*", 1, cancellationToken);
        await WaitForFilesAsync("warehouse", "warehouse.release-*", 1, cancellationToken);
        Assert.That(ended.GetProperty("reason").GetString(), Is.EqualTo("order a1 was not picked in time"));
    }

    [Test, Category("Thorough")]
    public async Task Two_steps_of_approval_wait_for_one_person_after_the_other(CancellationToken cancellationToken)
    {
        await StartAsync("approval", cancellationToken);
        await PostAsync("/requests", """{ "request": 7 }""", cancellationToken);
        await FindAsync("state=waiting&step=team-decides", 1, cancellationToken);
        await PostAsync("/approvals", """{ "request": 7, "approved": true }""", cancellationToken);
        var id = (await FindAsync("state=waiting&step=finance-decides", 1, cancellationToken)).GetProperty("id").GetString();
        await Host.TellAsync($"/api/workflows/{id}/fire", cancellationToken); // a day later
        await FindAsync("state=waiting&step=manager-decides", 1, cancellationToken);

        await PostAsync("/approvals", """{ "request": 7, "approved": true }""", cancellationToken);

        await FindAsync("state=completed", 1, cancellationToken);
        await WaitForFilesAsync("tasks", "*", 3, cancellationToken);
        await WaitForFilesAsync("outcome", "requests.approved-*", 1, cancellationToken);
    }

    [Test, Category("Thorough")]
    [OwnProcess]
    public async Task Request_is_answered_once_although_the_host_is_killed_before_and_after_the_answer(CancellationToken cancellationToken)
    {
        const int Loans = 10;
        await StartAsync("second-opinion", cancellationToken);
        await Task.WhenAll(Enumerable.Range(0, Loans).Select(loan => PostAsync("/loans", Loan(loan), cancellationToken)));
        await FindAsync("state=waiting&name=lend&step=ask", Loans, cancellationToken);
        await FindAsync("state=waiting&name=opinion&step=person-decides", Loans / 2, cancellationToken);
        await RestartAsync();

        await FindAsync("state=waiting&name=opinion&step=person-decides", Loans, cancellationToken);
        var deciding = Enumerable.Range(0, Loans).Select(loan => PostAsync("/decisions", Loan(loan), cancellationToken)).ToList();
        await Task.WhenAll(deciding);
        if (!KeepsAccepted)
            await FindAsync("state=completed&name=opinion", Loans, cancellationToken); // the answer is in the store, and perhaps sent
        await RestartAsync();

        await FindAsync("state=completed&name=lend", Loans, cancellationToken);
        await FindAsync("state=completed&name=opinion", Loans, cancellationToken);
        await WaitForFilesAsync("outcome", "loans.decided-*", Loans, cancellationToken);
        var all = (await Host.AskAsync("/api/workflows?limit=1000", cancellationToken)).GetProperty("items").EnumerateArray().ToList();
        IReadOnlyList<int> answered = [];
        await Host.WaitAsync(
            async token => (answered = await ReadLoansAsync(token)).Count >= Loans,
            Limit,
            "to have written every answer",
            cancellationToken
        );
        using (Assert.EnterMultipleScope())
        {
            Assert.That(all, Has.Count.EqualTo(2 * Loans), "one that asks and one that answers for each, none doubled");
            Assert.That(answered, Is.EquivalentTo(Enumerable.Range(0, Loans)), "each answer went to the instance that asked, once");
            Assert.That(Files("outcome", "loans.undecided-*"), Is.Zero);
        }

        // A file may still be written.
        async Task<IReadOnlyList<int>> ReadLoansAsync(CancellationToken token)
        {
            var loans = new List<int>();
            foreach (var file in Directory.GetFiles(Path.Combine(Folder, "data", "outcome"), "loans.decided-*.json"))
            {
                if (await File.ReadAllTextAsync(file, token) is { Length: > 0 } text)
                    loans.Add(JsonDocument.Parse(text).RootElement.GetProperty("loan").GetInt32());
            }

            return loans;
        }

        static string Loan(int loan) => $$"""{ "loan": {{loan}}, "approved": true }""";

        async Task RestartAsync()
        {
            Host.Kill();
            await Host.DisposeAsync();
            await StartHostAsync(cancellationToken);
        }
    }

    [Test]
    public async Task Every_kind_of_workflow_comes_to_its_end_and_a_caller_gets_the_answer_of_the_instance_it_starts(
        CancellationToken cancellationToken
    )
    {
        string[] started = ["basic", "filter", "scope", "convoy", "sleep", "inline", "start", "batch"];
        await StartAsync("kinds", cancellationToken);
        foreach (var kind in started)
        {
            for (var i = 0; i < MessagesOf(kind); i++)
                await PostAsync("/in", $$"""{ "kind": "{{kind}}", "key": "{{kind}}", "accept": true, "n": {{i}} }""", cancellationToken);
        }

        using var response = await Host.PostAsync("/service", "{}", "application/json", cancellationToken);

        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.OK), Host.Output);
        Assert.That(await response.Content.ReadAsStringAsync(cancellationToken), Is.EqualTo("served"));
        foreach (var kind in started.Append("service"))
        {
            await FindAsync($"state=completed&name={kind}", 1, cancellationToken);
            await WaitForFilesAsync("out", $"out.{kind}-*", 1, cancellationToken);
        }

        await FindAsync("state=completed&name=work", 2, cancellationToken); // of "inline" and of "start"
        await WaitForFilesAsync("out", "out.work-*", 2, cancellationToken);

        static int MessagesOf(string kind) =>
            kind switch
            {
                "convoy" => 2,
                "batch" => 5,
                _ => 1,
            };
    }

    [Test]
    public async Task Operator_acts_on_all_instances_of_a_filter(CancellationToken cancellationToken)
    {
        await StartAsync("order-fulfilment", cancellationToken);
        for (var i = 0; i < 5; i++)
            await PostAsync("/orders", $$"""{ "order": "a{{i}}" }""", cancellationToken);
        await FindAsync("state=waiting", 5, cancellationToken);
        string[] fire = ["workflows", "fire", "--workflow", "fulfil-order", "--step", "wait-for-picking"];

        var preview = await EsbAsync([.. fire, "--preview"], cancellationToken);
        var fired = await EsbAsync([.. fire, "--reason", "the warehouse is closed", "--wait"], cancellationToken);
        var migrated = await EsbAsync(["workflows", "migrate", "fulfil-order", "--dry-run"], cancellationToken);

        await FindAsync("state=terminated", 5, cancellationToken);
        using (Assert.EnterMultipleScope())
        {
            Assert.That(preview, Does.Match(@"fulfil-order\s+waiting\s+wait-for-picking\s+-\s+5"));
            Assert.That(fired, Does.Contain("done, 5 changed, 0 failed"));
            Assert.That(migrated, Does.StartWith("0 instances can move to definition"));
        }
    }

    [Test, Category("Thorough")]
    public async Task Living_instances_are_seen_in_the_metrics_and_in_the_plan(CancellationToken cancellationToken)
    {
        await StartAsync("order-fulfilment", cancellationToken);
        for (var i = 0; i < 3; i++)
            await PostAsync("/orders", $$"""{ "order": "a{{i}}" }""", cancellationToken);
        await PostAsync("/picked", """{ "order": "a0" }""", cancellationToken);
        await FindAsync("state=completed", 1, cancellationToken);
        var metrics = "";
        await Host.WaitAsync(
            async token =>
                (metrics = await Host.ReadAsync("/api/metrics?format=prometheus", token)).Contains(
                    "esb_workflow_instances{workflow=\"fulfil-order\",state=\"waiting\"} 2",
                    StringComparison.Ordinal
                ),
            Limit,
            "to count two instances that wait",
            cancellationToken
        );

        var table = await EsbAsync(["metrics"], cancellationToken);
        var plan = await EsbAsync(["plan", "esb.json"], cancellationToken);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(metrics, Does.Contain("esb_workflow_instances{workflow=\"fulfil-order\",state=\"suspended\"} 0"));
            Assert.That(metrics, Does.Contain("esb_workflow_started_total{workflow=\"fulfil-order\"} 3"));
            Assert.That(metrics, Does.Contain("esb_workflow_ended_total{workflow=\"fulfil-order\"} 1"));
            Assert.That(metrics, Does.Contain("esb_workflow_checkpoint_duration_seconds_count{workflow=\"fulfil-order\"}"));
            Assert.That(table, Does.Match(@"fulfil-order\s+0\s+2\s+0\s+3\s+[\d.]+\s+1\s+-\s+[\d.]+ ms"));
            Assert.That(plan, Does.Match(@"keep\s+workflows\.fulfil-order\s+2 living instances of definition [0-9a-f]{12}, which stays"));
        }
    }

    private protected async Task<string> EsbAsync(string[] arguments, CancellationToken cancellationToken)
    {
        var (exitCode, output, error) = await CommandLine.RunAsync(
            Folder,
            cancellationToken,
            [.. arguments, "--url", Host.Management.OriginalString]
        );
        Assert.That(exitCode, Is.Zero, error);
        return output;
    }

    [Test]
    public async Task Request_is_answered_when_four_departments_have_decided(CancellationToken cancellationToken)
    {
        await StartAsync("request-broker", cancellationToken);
        var asking = Host.PostAsync("/permits", """{ "permit": 42 }""", "application/json", cancellationToken);
        foreach (var department in new[] { "fire", "water", "traffic", "building" })
        {
            await FindAsync($"state=waiting&key=permit%3D42&step={department}-decides", 1, cancellationToken); // has acknowledged
            await PostAsync("/decisions", $$"""{ "permit": 42, "department": "{{department}}", "decision": "yes" }""", cancellationToken);
        }

        using var answer = await asking;
        using var second = await Host.PostAsync("/permits", """{ "permit": 43, "of": """, "application/json", cancellationToken);

        Assert.That(answer.StatusCode, Is.EqualTo(HttpStatusCode.OK), Host.Output);
        Assert.That(
            await answer.Content.ReadAsStringAsync(cancellationToken),
            Is.EqualTo("""{ "permit": 42, "fire": "yes", "water": "yes", "traffic": "yes", "building": "yes" }""")
        );
        Assert.That((int)second.StatusCode, Is.InRange(400, 422), "a body without its key");
        await FindAsync("state=completed&name=permit", 1, cancellationToken);
    }

    private protected async Task StartAsync(string sample, CancellationToken cancellationToken, string sections = "", string workflow = "")
    {
        _folder = Directory.CreateTempSubdirectory("esb-workflow-");
        var text = await File.ReadAllTextAsync(
            Path.Combine(Repository.PathOf("samples", "workflows", sample), "esb.json"),
            cancellationToken
        );
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            text.Replace("\"topics\"", $"{Sections} {sections} \"topics\"", StringComparison.Ordinal)
                .Replace("\"start\"", $"{workflow} \"start\"", StringComparison.Ordinal),
            cancellationToken
        );
        await StartHostAsync(cancellationToken);
    }

    private protected async Task StartHostAsync(CancellationToken cancellationToken) =>
        Host = await RunningHost.StartAsync("esb.json", _folder.FullName, cancellationToken, Variables);

    private protected async Task PostAsync(string path, string body, CancellationToken cancellationToken)
    {
        using var response = await Host.PostAsync(path, body, "application/json", cancellationToken);
        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.Accepted), Host.Output);
    }

    private protected async Task<JsonElement> FindAsync(string filter, int count, CancellationToken cancellationToken)
    {
        var found = new List<JsonElement>();
        await Host.WaitAsync(
            async token =>
                (
                    found = [.. (await Host.AskAsync($"/api/workflows?limit=1000&{filter}", token)).GetProperty("items").EnumerateArray()]
                ).Count >= count,
            Limit,
            $"to have {count} instances with {filter}",
            cancellationToken
        );
        return found[0];
    }

    private protected async Task WaitForFilesAsync(string folder, string pattern, int count, CancellationToken cancellationToken) =>
        await Host.WaitAsync(
            _ => Task.FromResult(Files(folder, pattern) >= count),
            Limit,
            $"to have written {count} files {pattern}",
            cancellationToken
        );

    private protected int Files(string folder, string pattern)
    {
        var path = Path.Combine(_folder.FullName, "data", folder);
        return Directory.Exists(path) ? Directory.GetFiles(path, $"{pattern}.json").Length : 0;
    }
}
