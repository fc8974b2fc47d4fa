using System.Net;
using System.Text.Json;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Npgsql;

namespace Esb.IntegrationTests.EndToEnd;

/// <summary>On RabbitMQ and PostgreSQL.</summary>
public sealed class ServerWorkflowTests : WorkflowContract
{
    private const int Orders = 200;

    private readonly string _run = $"{Guid.NewGuid():N}"[..10];

    private string Name => $"wf{_run}{TestContext.CurrentContext.Test.ID.Replace('-', '_')}";

    private protected override string Sections =>
        $$"""
            "transport": { "type": "rabbitmq", "url": "${env:ESB_TEST_RABBITMQ}", "prefix": "{{Name}}" },
            "store": { "type": "postgres", "connection": "${env:ESB_TEST_POSTGRES}", "schema": "{{Name}}" },
            """;

    private protected override bool KeepsAccepted => true;

    private protected override IReadOnlyDictionary<string, string> Variables =>
        new Dictionary<string, string>
        {
            ["ESB_TEST_RABBITMQ"] = Servers.RabbitMq,
            ["ESB_TEST_POSTGRES"] = Servers.Postgres,
            ["ESB_POSTGRES"] = $"{Servers.Postgres};Search Path={Name}_shop",
        };

    [Test, Category("Thorough")]
    public async Task Caller_at_one_host_gets_the_answer_that_another_one_gives(CancellationToken cancellationToken)
    {
        await StartAsync("request-broker", cancellationToken);
        var folder = Directory.CreateDirectory(Path.Combine(Folder, "other")).FullName;
        File.Copy(Path.Combine(Folder, "esb.json"), Path.Combine(folder, "esb.json"));
        await using var other = await RunningHost.StartAsync("esb.json", folder, cancellationToken, Variables);
        var asking = Enumerable
            .Range(0, 8)
            .Select(permit => Host.PostAsync("/permits", $$"""{ "permit": {{permit}} }""", "application/json", cancellationToken))
            .ToList();
        foreach (var department in new[] { "fire", "water", "traffic", "building" })
        {
            await FindAsync($"state=waiting&step={department}-decides", 8, cancellationToken);
            for (var permit = 0; permit < 8; permit++)
            {
                using var decided = await other.PostAsync(
                    "/decisions",
                    $$"""{ "permit": {{permit}}, "department": "{{department}}", "decision": "yes" }""",
                    "application/json",
                    cancellationToken
                );
            }
        }

        foreach (var answer in await Task.WhenAll(asking))
        {
            using (answer)
                Assert.That(answer.StatusCode, Is.EqualTo(HttpStatusCode.OK), Host.Output);
        }
    }

    [Test, Category("Thorough")]
    [OwnProcess]
    public async Task Callers_are_answered_although_the_host_that_works_for_them_is_killed(CancellationToken cancellationToken)
    {
        const int Permits = 24;
        await StartAsync("request-broker", cancellationToken);
        var (worker, folder) = (Host, Directory.CreateDirectory(Path.Combine(Folder, "callers")).FullName); // the first one has the lanes
        File.Copy(Path.Combine(Folder, "esb.json"), Path.Combine(folder, "esb.json"));
        await using var callers = await RunningHost.StartAsync("esb.json", folder, cancellationToken, Variables);
        var asking = Enumerable
            .Range(0, Permits)
            .Select(permit => callers.PostAsync("/permits", $$"""{ "permit": {{permit}} }""", "application/json", cancellationToken))
            .ToList();
        foreach (var department in new[] { "fire", "water", "traffic" })
        {
            await FindAsync($"state=waiting&step={department}-decides", Permits, cancellationToken);
            await Task.WhenAll(Enumerable.Range(0, Permits).Select(permit => DecideAsync(permit, department)));
        }

        await FindAsync("state=waiting&step=building-decides", Permits, cancellationToken);
        var deciding = Enumerable.Range(0, Permits).Select(permit => DecideAsync(permit, "building")).ToList();
        await Task.WhenAll(deciding.Take(Permits / 3));
        worker.Kill();
        await Task.WhenAll(deciding);

        var answers = await Task.WhenAll(asking);
        foreach (var answer in answers)
        {
            using (answer)
                Assert.That(answer.StatusCode, Is.EqualTo(HttpStatusCode.OK), callers.Output);
        }

        async Task DecideAsync(int permit, string department)
        {
            var decision = $$"""{ "permit": {{permit}}, "department": "{{department}}", "decision": "yes" }""";
            using var decided = await callers.PostAsync("/decisions", decision, "application/json", cancellationToken);
            Assert.That(decided.StatusCode, Is.EqualTo(HttpStatusCode.Accepted), callers.Output);
        }
    }

    [Test, Category("Thorough")]
    [OwnProcess]
    public async Task Instances_go_on_as_they_began_at_hosts_of_either_revision(CancellationToken cancellationToken)
    {
        const int Each = 5;
        await StartAsync("order-fulfilment", cancellationToken);
        for (var i = 0; i < Each; i++)
            await PostAsync("/orders", $$"""{ "order": "a{{i}}" }""", cancellationToken);
        await FindAsync("state=waiting", Each, cancellationToken);
        var folder = Directory.CreateDirectory(Path.Combine(Folder, "other")).FullName;
        var text = await File.ReadAllTextAsync(Path.Combine(Folder, "esb.json"), cancellationToken);
        await File.WriteAllTextAsync(
            Path.Combine(folder, "esb.json"),
            text.Replace("was not picked in time", "is overdue", StringComparison.Ordinal),
            cancellationToken
        );
        await using var other = await RunningHost.StartAsync("esb.json", folder, cancellationToken, Variables);
        Host.Kill(); // the lanes are the other's: it begins what comes now
        await Host.DisposeAsync();
        for (var i = 0; i < Each; i++)
        {
            using var accepted = await other.PostAsync("/orders", $$"""{ "order": "b{{i}}" }""", "application/json", cancellationToken);
            Assert.That(accepted.StatusCode, Is.EqualTo(HttpStatusCode.Accepted), other.Output);
        }

        await other.WaitAsync(
            async token => (await other.AskAsync("/api/workflows?state=waiting", token)).GetProperty("items").GetArrayLength() == 2 * Each,
            Limit,
            "to have begun all",
            cancellationToken
        );
        await StartHostAsync(cancellationToken); // with the revision before
        await EsbAsync(["workflows", "fire", "--workflow", "fulfil-order", "--reason", "the time is over", "--wait"], cancellationToken);

        await FindAsync("state=terminated", 2 * Each, cancellationToken);
        var ended = (await Host.AskAsync("/api/workflows?limit=1000", cancellationToken)).GetProperty("items").EnumerateArray();
        Assert.That(
            ended.Select(instance => instance.GetProperty("reason").GetString()),
            Is.EquivalentTo(
                Enumerable.Range(0, Each).SelectMany(i => new[] { $"order a{i} was not picked in time", $"order b{i} is overdue" })
            )
        );
    }

    [Test, Category("Thorough")]
    [OwnProcess]
    public async Task Scope_with_a_transaction_has_its_effect_once_although_the_host_is_killed(CancellationToken cancellationToken)
    {
        const int Sold = 60;
        await using var database = NpgsqlDataSource.Create(Variables["ESB_POSTGRES"]);
        var tables = await File.ReadAllTextAsync(
            Path.Combine(Repository.PathOf("samples", "workflows", "database-scope"), "tables.sql"),
            cancellationToken
        );
        await using (var create = database.CreateCommand($"create schema {Name}_shop; {tables}"))
            await create.ExecuteNonQueryAsync(cancellationToken);
        await StartAsync("database-scope", cancellationToken);
        for (var life = 0; life < 3; life++)
        {
            var orders = Enumerable.Range(life * Sold / 3, Sold / 3);
            await Task.WhenAll(
                orders.Select(order => PostAsync("/orders", $$"""{ "order": "o{{order}}", "article": "lamp" }""", cancellationToken))
            );
            Host.Kill();
            await Host.DisposeAsync();
            await StartHostAsync(cancellationToken);
        }

        await FindAsync("state=waiting&step=may-cancel", Sold, cancellationToken);
        var reserved = await CountAsync(database, cancellationToken);
        for (var order = 0; order < 5; order++)
            await PostAsync("/cancel", $$"""{ "order": "o{{order}}", "article": "lamp" }""", cancellationToken);
        await FindAsync("state=completed", 5, cancellationToken);
        var released = await CountAsync(database, cancellationToken);

        Assert.That(reserved, Is.EqualTo((100 - Sold, Sold, Sold, Sold)));
        Assert.That(released, Is.EqualTo((100 - Sold + 5, Sold - 5, Sold + 5, Sold)));
    }

    private static async Task<(int Free, int Reserved, int Noted, int Orders)> CountAsync(
        NpgsqlDataSource database,
        CancellationToken cancellationToken
    )
    {
        await using var command = database.CreateCommand(
            "select free, reserved, (select count(*)::int from reservations), (select count(distinct order_id)::int from reservations) "
                + "from stock"
        );
        await using var reader = await command.ExecuteReaderAsync(cancellationToken);
        await reader.ReadAsync(cancellationToken);
        return (reader.GetInt32(0), reader.GetInt32(1), reader.GetInt32(2), reader.GetInt32(3));
    }

    [Test, Category("Thorough")]
    [OwnProcess]
    public async Task Nothing_is_stranded_and_nothing_doubled_when_the_host_is_killed_under_load(CancellationToken cancellationToken)
    {
        await StartAsync("order-fulfilment", cancellationToken);
        for (var life = 0; life < 4; life++)
        {
            var orders = Enumerable.Range(life * Orders / 4, Orders / 4).ToList();
            await Task.WhenAll(orders.Select(order => PostAsync("/orders", $$"""{ "order": "o{{order}}" }""", cancellationToken)));
            var picking = orders.Select(order => PostAsync("/picked", $$"""{ "order": "o{{order}}" }""", cancellationToken)).ToList();
            await Task.WhenAll(picking.Take(picking.Count / 2));
            await Task.WhenAll(picking);

            Host.Kill();
            await Host.DisposeAsync();
            await StartHostAsync(cancellationToken);
        }

        await FindAsync("state=completed", Orders, cancellationToken);
        await WaitForFilesAsync("outcome", "orders.shipped-*", Orders, cancellationToken);
        var all = (await Host.AskAsync("/api/workflows?limit=1000", cancellationToken)).GetProperty("items").EnumerateArray().ToList();
        using (Assert.EnterMultipleScope())
        {
            Assert.That(all, Has.Count.EqualTo(Orders));
            Assert.That(all.Select(instance => instance.GetProperty("keys").GetProperty("order").GetString()), Is.Unique);
            Assert.That(Files("outcome", "orders.shipped-*"), Is.EqualTo(Orders), "each with an id of its own: none doubled");
            Assert.That(Files("warehouse", "warehouse.pick-*"), Is.EqualTo(Orders));
        }
    }
}
