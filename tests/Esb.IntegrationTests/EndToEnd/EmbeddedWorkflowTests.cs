using System.Net;
using System.Text.Json;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Npgsql;

namespace Esb.IntegrationTests.EndToEnd;

/// <summary>On the embedded default.</summary>
[Category("Thorough")]
public sealed class EmbeddedWorkflowTests : WorkflowContract
{
    private IReadOnlyDictionary<string, string> _variables = new Dictionary<string, string>();

    private protected override string Sections => "";

    private protected override IReadOnlyDictionary<string, string> Variables => _variables;

    /// <summary>The database of the scope is the only server: transport and store are those in the host.</summary>
    [Test]
    [OwnProcess]
    public async Task Scope_with_a_transaction_has_its_effect_once_although_the_host_is_killed(CancellationToken cancellationToken)
    {
        const int Orders = 20;
        var schema = $"wf{Guid.NewGuid():N}"[..12];
        await using var database = NpgsqlDataSource.Create($"{Servers.Postgres};Search Path={schema}");
        _variables = new Dictionary<string, string> { ["ESB_POSTGRES"] = database.ConnectionString };
        var tables = await File.ReadAllTextAsync(
            Path.Combine(Repository.PathOf("samples", "workflows", "database-scope"), "tables.sql"),
            cancellationToken
        );
        await ExecuteAsync($"create schema {schema}; {tables}");
        await StartAsync("database-scope", cancellationToken);

        await Task.WhenAll(
            Enumerable
                .Range(0, Orders)
                .Select(order => PostAsync("/orders", $$"""{ "order": "o{{order}}", "article": "lamp" }""", cancellationToken))
        );
        await FindAsync("", 1, cancellationToken);
        Host.Kill();
        await Host.DisposeAsync();
        await StartHostAsync(cancellationToken);
        var begun = 0; // what was accepted and had not begun went with the process
        await Host.WaitAsync(
            async token =>
            {
                var all = (await Host.AskAsync("/api/workflows?limit=1000", token)).GetProperty("items").EnumerateArray().ToList();
                begun = all.Count;
                return all.All(instance => instance.GetProperty("step").GetString() == "may-cancel");
            },
            Limit,
            "to have reserved the article for all",
            cancellationToken
        );

        Assert.That(begun, Is.InRange(1, Orders));
        Assert.That(await ReadAsync("select reserved from stock"), Is.EqualTo(begun));
        Assert.That(await ReadAsync("select count(*)::int from reservations"), Is.EqualTo(begun));
        Assert.That(await ReadAsync("select count(distinct order_id)::int from reservations"), Is.EqualTo(begun));
        await ExecuteAsync($"drop schema {schema} cascade");

        async Task ExecuteAsync(string sql)
        {
            await using var command = database.CreateCommand(sql);
            await command.ExecuteNonQueryAsync(cancellationToken);
        }

        async Task<object?> ReadAsync(string sql)
        {
            await using var command = database.CreateCommand(sql);
            return await command.ExecuteScalarAsync(cancellationToken);
        }
    }
}
