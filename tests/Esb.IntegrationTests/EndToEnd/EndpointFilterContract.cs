using System.Net;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd;

/// <summary>The condition on headers by which an outbound endpoint takes some messages of a topic and passes over the others.</summary>
[CancelAfter(120_000)]
public abstract class EndpointFilterContract
{
    private DirectoryInfo _folder = null!;
    private RunningHost _host = null!;

    /// <summary>Transport and store.</summary>
    private protected abstract string Sections { get; }

    private protected virtual IReadOnlyDictionary<string, string> Variables => new Dictionary<string, string>();

    [SetUp]
    public async Task StartHost()
    {
        _folder = Directory.CreateTempSubdirectory("esb-endpoint-filter-");
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            $$"""
            {
              {{Sections}}
              "topics": { "orders": {} },
              "endpoints": {
                "door": { "type": "http-inbound", "path": "/orders", "publish": "orders.new" },
                "large": {
                  "type": "file-outbound", "subscribe": ["orders.#"], "filter": { "header": "x-amount", "atLeast": 1000 },
                  "folder": "large", "fileName": "{message.id}.txt"
                },
                "all": { "type": "file-outbound", "subscribe": ["orders.#"], "folder": "all", "fileName": "{message.id}.txt" }
              }
            }
            """
        );
        _host = await RunningHost.StartAsync("esb.json", _folder.FullName, CancellationToken.None, Variables);
    }

    [TearDown]
    public async Task StopHost()
    {
        await _host.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test]
    public async Task Filter_lets_some_messages_pass_and_the_others_are_settled_as_filtered(CancellationToken cancellationToken)
    {
        var passed = new[] { await OrderAsync("1000", cancellationToken), await OrderAsync("2500.50", cancellationToken) };
        var blocked = new[] { await OrderAsync("999.99", cancellationToken), await OrderAsync(null, cancellationToken) };

        foreach (var id in blocked)
        {
            await _host.WaitAsync(
                async token =>
                    (await _host.AskAsync($"/api/messages?id={id}&kind=filtered&endpoint=large", token))
                        .GetProperty("items")
                        .GetArrayLength() == 1,
                TimeSpan.FromSeconds(20),
                $"to record that {id} was filtered",
                cancellationToken
            );
        }

        await _host.WaitAsync(
            _ => Task.FromResult(FilesIn("large").Length == 2 && FilesIn("all").Length == 4),
            TimeSpan.FromSeconds(20),
            "to write its files",
            cancellationToken
        );
        Assert.That(FilesIn("large"), Is.EquivalentTo(passed.Select(id => $"{id}.txt")));
        Assert.That(FilesIn("all"), Is.EquivalentTo(passed.Concat(blocked).Select(id => $"{id}.txt")), "others take what it passes over");
    }

    private async Task<string> OrderAsync(string? amount, CancellationToken cancellationToken)
    {
        using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(_host.Public, "/orders"))
        {
            Content = new StringContent("order"),
        };
        if (amount is not null)
            request.Headers.Add("X-Amount", amount);
        using var response = await _host.Client.SendAsync(request, cancellationToken);
        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.Accepted), _host.Output);
        return response.Headers.GetValues("Esb-Message-Id").Single();
    }

    private string[] FilesIn(string name)
    {
        var folder = Path.Combine(_folder.FullName, name);
        return Directory.Exists(folder) ? [.. Directory.GetFiles(folder, "*.txt").Select(file => Path.GetFileName(file)!)] : [];
    }
}

/// <summary>On the embedded default.</summary>
[Category("Thorough")]
public sealed class EmbeddedEndpointFilterTests : EndpointFilterContract
{
    private protected override string Sections => "";
}

/// <summary>On RabbitMQ and PostgreSQL.</summary>
public sealed class ServerEndpointFilterTests : EndpointFilterContract
{
    private readonly string _name = $"ef{Guid.NewGuid():N}"[..12];

    private protected override string Sections =>
        $$"""
            "transport": { "type": "rabbitmq", "url": "${env:ESB_TEST_RABBITMQ}", "prefix": "{{_name}}" },
            "store": { "type": "postgres", "connection": "${env:ESB_TEST_POSTGRES}", "schema": "{{_name}}" },
            """;

    private protected override IReadOnlyDictionary<string, string> Variables =>
        new Dictionary<string, string> { ["ESB_TEST_RABBITMQ"] = Servers.RabbitMq, ["ESB_TEST_POSTGRES"] = Servers.Postgres };
}
