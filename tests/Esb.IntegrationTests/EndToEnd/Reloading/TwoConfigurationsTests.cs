using System.Text.Json;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Npgsql;

namespace Esb.IntegrationTests.EndToEnd.Reloading;

/// <summary>Hosts of two configurations with different names and endpoints of one name, on one PostgreSQL schema.</summary>
public sealed class TwoConfigurationsTests
{
    private readonly string _schema = $"esb_{Guid.NewGuid():N}"[..20];

    private DirectoryInfo _folder = null!;

    private static Dictionary<string, string> Variables => new() { ["ESB_POSTGRES"] = Servers.Postgres };

    [SetUp]
    public void CreateFolder() => _folder = Directory.CreateTempSubdirectory("esb-two-");

    [TearDown]
    public async Task RemoveAll()
    {
        _folder.Delete(recursive: true);
        await using var source = NpgsqlDataSource.Create(Servers.Postgres);
        await using var command = source.CreateCommand(
            $"drop schema if exists {_schema} cascade; drop schema if exists {_schema}_shop cascade; drop schema if exists "
                + $"{_schema}_bank cascade"
        );
        await command.ExecuteNonQueryAsync();
    }

    [Test, Category("Thorough"), CancelAfter(120_000)]
    public async Task Each_lists_its_own_dead_letters_and_the_journeys_of_both(CancellationToken cancellationToken)
    {
        await using var shop = await StartAsync("shop", cancellationToken);
        await using var bank = await StartAsync("bank", cancellationToken);

        var ordered = await SendAsync(shop, cancellationToken);
        var paid = await SendAsync(bank, cancellationToken);

        var (letterOfShop, letterOfBank) = (await LetterAsync(shop, cancellationToken), await LetterAsync(bank, cancellationToken));
        Assert.That(letterOfShop.MessageId, Is.EqualTo(ordered));
        Assert.That(letterOfBank.MessageId, Is.EqualTo(paid));
        var listed = await CommandLine.RunAsync(bank.Folder, Variables, cancellationToken, "dead-letters", "list", "--config", "esb.json");
        Assert.That(listed.Output, Does.Contain(letterOfBank.Id).And.Not.Contain(letterOfShop.Id), listed.Error);
        await shop.WaitAsync(
            async token =>
                (await shop.AskAsync($"/api/messages/{paid}", token)).ToString().Contains("ESB-FILE-NAME", StringComparison.Ordinal),
            TimeSpan.FromSeconds(30),
            "to find the fact of the other",
            cancellationToken
        );
    }

    private async Task<RunningHost> StartAsync(string name, CancellationToken cancellationToken)
    {
        var folder = _folder.CreateSubdirectory(name).FullName;
        await File.WriteAllTextAsync(
            Path.Combine(folder, "esb.json"),
            $$"""
            {
              "name": "{{name}}",
              "store": { "type": "postgres", "connection": "${env:ESB_POSTGRES}", "schema": "{{_schema}}" },
              "topics": { "orders": {} },
              "endpoints": {
                "in": { "type": "http-inbound", "path": "/orders", "publish": "orders.new" },
                "out": { "type": "file-outbound", "subscribe": ["orders.#"], "folder": "out", "fileName": "{header.x-nobody-sends}" }
              }
            }
            """,
            cancellationToken
        );
        return await RunningHost.StartAsync("esb.json", folder, cancellationToken, Variables);
    }

    private static async Task<string> SendAsync(RunningHost host, CancellationToken cancellationToken)
    {
        using var answer = await host.Client.PostAsync(new Uri(host.Public, "orders"), new StringContent("<order/>"), cancellationToken);
        return JsonDocument
            .Parse(await answer.Content.ReadAsStringAsync(cancellationToken))
            .RootElement.GetProperty("messageId")
            .GetString()!;
    }

    private static async Task<(string Id, string MessageId)> LetterAsync(RunningHost host, CancellationToken cancellationToken)
    {
        var letters = new List<JsonElement>();
        await host.WaitAsync(
            async token =>
            {
                letters = [.. (await host.AskAsync("/api/dead-letters", token)).GetProperty("items").EnumerateArray()];
                return letters.Count > 0;
            },
            TimeSpan.FromSeconds(30),
            "to keep a dead letter",
            cancellationToken
        );
        var letter = letters.Single();
        return (letter.GetProperty("id").GetString()!, letter.GetProperty("messageId").GetString()!);
    }
}
