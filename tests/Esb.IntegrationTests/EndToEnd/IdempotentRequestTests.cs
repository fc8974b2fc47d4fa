using System.Net;
using System.Text.Json;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Npgsql;

namespace Esb.IntegrationTests.EndToEnd;

/// <summary>Requests with an Idempotency-Key, to hosts that are killed.</summary>
[CancelAfter(120_000), Category("Failures")]
[OwnProcess]
public sealed class IdempotentRequestTests
{
    private readonly string _schema = $"esb_{Guid.NewGuid():N}";
    private DirectoryInfo _folder = null!;
    private EchoBackend _backend = null!;

    [SetUp]
    public async Task Create()
    {
        _folder = Directory.CreateTempSubdirectory("esb-keys-");
        _backend = await EchoBackend.StartAsync();
    }

    [TearDown]
    public async Task Delete()
    {
        await _backend.DisposeAsync();
        await using var database = NpgsqlDataSource.Create(Servers.Postgres);
        await using var drop = database.CreateCommand($"drop schema if exists {_schema} cascade");
        await drop.ExecuteNonQueryAsync();
        _folder.Delete(recursive: true);
    }

    [TestCase("file", Category = "Thorough"), TestCase("postgres")]
    public async Task Answer_outlives_the_host_that_gave_it(string store, CancellationToken cancellationToken)
    {
        await WriteConfigurationAsync(store, cancellationToken);
        string first;
        await using (var host = await StartAsync(cancellationToken))
        {
            first = await AcceptedAsync(await PostAsync(host, "k-1", "order 1", cancellationToken), isReplayed: false, cancellationToken);
            host.Kill();
        }

        await using var restarted = await StartAsync(cancellationToken);
        var second = await AcceptedAsync(
            await PostAsync(restarted, "k-1", "order 1", cancellationToken),
            isReplayed: true,
            cancellationToken
        );
        using var conflict = await PostAsync(restarted, "k-1", "order 2", cancellationToken);
        await restarted.WaitForFileAsync(LedgerOf(first), cancellationToken);

        Assert.That(second, Is.EqualTo(first));
        Assert.That(conflict.StatusCode, Is.EqualTo(HttpStatusCode.UnprocessableEntity));
        var journey = $"/api/messages/{JsonDocument.Parse(first).RootElement.GetProperty("messageId")}";
        await restarted.WaitAsync(
            async token => (await restarted.AskAsync(journey, token)).ToString().Contains("\"duplicate\"", StringComparison.Ordinal),
            TimeSpan.FromSeconds(20),
            "to record the duplicate",
            cancellationToken
        );
    }

    [Test, Category("Thorough")]
    public async Task Request_whose_host_died_at_work_is_worked_on_again_with_the_same_message_id(CancellationToken cancellationToken)
    {
        await WriteConfigurationAsync("file", cancellationToken);
        var hold = new TaskCompletionSource();
        _backend.Hold = hold.Task;
        await using (var host = await StartAsync(cancellationToken))
        {
            var dying = PostAsync(host, "k-1", "order 1", cancellationToken);
            await host.WaitAsync(
                _ => Task.FromResult(!_backend.Keys.IsEmpty),
                TimeSpan.FromSeconds(20),
                "to call the back end",
                cancellationToken
            );
            using var running = await PostAsync(host, "k-1", "order 1", cancellationToken);
            Assert.That(running.StatusCode, Is.EqualTo(HttpStatusCode.Conflict));
            host.Kill();
            Assert.That(async () => await dying, Throws.InstanceOf<HttpRequestException>());
        }

        hold.SetResult();
        await using var restarted = await StartAsync(cancellationToken);
        var answer = await AcceptedAsync(
            await PostAsync(restarted, "k-1", "order 1", cancellationToken),
            isReplayed: false,
            cancellationToken
        );

        await restarted.WaitForFileAsync(LedgerOf(answer), cancellationToken);
        Assert.That(_backend.Keys, Has.Count.EqualTo(2));
        Assert.That(_backend.Keys.Distinct(), Has.Exactly(1).Items, "the outside can tell it is the same");
        Assert.That(ReadLedger(), Is.EqualTo([LedgerOf(answer)]));
    }

    private static async Task<string> AcceptedAsync(HttpResponseMessage response, bool isReplayed, CancellationToken cancellationToken)
    {
        var body = await response.Content.ReadAsStringAsync(cancellationToken);
        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.Accepted), body);
        Assert.That(response.Headers.Contains("Idempotency-Replayed"), Is.EqualTo(isReplayed));
        response.Dispose();
        return body;
    }

    private static async Task<HttpResponseMessage> PostAsync(RunningHost host, string key, string body, CancellationToken cancellationToken)
    {
        using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(host.Public, "/orders")) { Content = new StringContent(body) };
        request.Headers.Add("Idempotency-Key", key);
        return await host.Client.SendAsync(request, cancellationToken);
    }

    private string LedgerOf(string answer) =>
        Path.Combine(_folder.FullName, "ledger", $"{JsonDocument.Parse(answer).RootElement.GetProperty("messageId")}.txt");

    // Complete files: what a host was writing when it died, or writes now, is hidden.
    private IEnumerable<string> ReadLedger() =>
        Directory.GetFiles(Path.Combine(_folder.FullName, "ledger")).Where(path => !Path.GetFileName(path).StartsWith('.'));

    private Task<RunningHost> StartAsync(CancellationToken cancellationToken) =>
        RunningHost.StartAsync("esb.json", _folder.FullName, cancellationToken);

    private Task WriteConfigurationAsync(string store, CancellationToken cancellationToken) =>
        File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            $$"""
            {
              "transport": { "type": "rabbitmq", "url": "${env:ESB_TEST_RABBITMQ}", "prefix": "test-{{Guid.NewGuid():N}}" },
              "store": { "type": "{{store}}"{{(
                store == "file" ? "" : $$""", "connection": "${env:ESB_TEST_POSTGRES}", "schema": "{{_schema}}" """
            )}} },
              "topics": { "orders": {} },
              "processes": { "take": [ { "publish": "orders.new" }, { "call": "backend" } ] },
              "endpoints": {
                "shop": { "type": "http-inbound", "path": "/orders", "process": "take" },
                "backend": { "type": "http-outbound", "url": "{{_backend.Url}}" },
                "ledger": { "type": "file-outbound", "subscribe": ["orders.#"], "folder": "ledger", "fileName": "{message.id}.txt" }
              }
            }
            """,
            cancellationToken
        );
}
