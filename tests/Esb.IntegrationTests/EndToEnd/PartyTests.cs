using System.Net;
using System.Text;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.IntegrationTests.Topics;

namespace Esb.IntegrationTests.EndToEnd;

/// <summary>The party that a caller proves to be is the message's, also behind RabbitMQ.</summary>
[CancelAfter(90_000)]
public sealed class PartyTests
{
    private readonly string _prefix = $"party{Guid.NewGuid():N}"[..12];
    private DirectoryInfo _folder = null!;

    [SetUp]
    public void CreateFolder() => _folder = Directory.CreateTempSubdirectory("esb-party-");

    [TearDown]
    public void DeleteFolder() => _folder.Delete(recursive: true);

    [Test]
    public async Task Party_names_a_file_and_stands_in_facts_and_dead_letters(CancellationToken cancellationToken)
    {
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            $$"""
            { "name": "partytest",
              "transport": { "type": "rabbitmq", "url": "${env:ESB_TEST_RABBITMQ}", "prefix": "{{_prefix}}" },
              "topics": { "t": {} },
              "parties": { "shop": { "apiKeys": ["${env:SHOPKEY}"], "publish": ["t.#"] } },
              "endpoints": {
                "in": { "type": "http-inbound", "path": "/t", "publish": "t.a", "authentication": ["api-key"] },
                "out": { "type": "file-outbound", "subscribe": ["t.#"], "folder": "out", "fileName": "{message.party}-{message.id}.txt" },
                "bad": { "type": "file-outbound", "subscribe": ["t.#"], "folder": "bad", "fileName": "{header.x-missing}.txt" } } }
            """,
            cancellationToken
        );
        Directory.CreateDirectory(Path.Combine(_folder.FullName, "out"));
        Directory.CreateDirectory(Path.Combine(_folder.FullName, "bad"));
        await using var host = await RunningHost.StartAsync(
            "esb.json",
            _folder.FullName,
            cancellationToken,
            new Dictionary<string, string> { ["SHOPKEY"] = "a key of the shop, long enough" }
        );

        using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(host.Public, "/t"))
        {
            Content = new StringContent("x", Encoding.UTF8, "text/plain"),
        };
        request.Headers.Add("X-Api-Key", "a key of the shop, long enough");
        using var response = await host.Client.SendAsync(request, cancellationToken);
        var id = response.Headers.GetValues("Esb-Message-Id").Single();
        await host.WaitForFileAsync(Path.Combine(_folder.FullName, "out", $"shop-{id}.txt"), cancellationToken);
        await host.WaitAsync(
            async token => (await host.AskAsync("/api/dead-letters", token)).GetProperty("items").GetArrayLength() == 1,
            TimeSpan.FromSeconds(30),
            "to keep the dead letter",
            cancellationToken
        );
        var letters = await host.AskAsync("/api/dead-letters", cancellationToken);
        var letter = await host.AskAsync(
            $"/api/dead-letters/{letters.GetProperty("items")[0].GetProperty("id").GetString()}",
            cancellationToken
        );
        var found = await CommandLine.RunAsync(
            _folder.FullName,
            cancellationToken,
            "audit",
            "find",
            "--kind",
            "dead-lettered",
            "--party",
            "shop",
            "--url",
            host.Management.OriginalString
        );

        Assert.Multiple(() =>
        {
            Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.Accepted));
            Assert.That(letter.GetProperty("party").GetString(), Is.EqualTo("shop"), letter.ToString());
            Assert.That(found.ExitCode, Is.Zero, found.Error);
            Assert.That(found.Output, Does.Contain(id));
        });
    }
}
