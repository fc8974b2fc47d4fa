using System.Net;
using System.Net.Http.Headers;
using System.Text;
using System.Text.Json;

namespace Esb.IntegrationTests.EndToEnd.Hosts;

/// <summary>A whole host, and a shop of the outside that refuses what a test says.</summary>
public abstract class ShopHost
{
    private DirectoryInfo _folder = null!;

    private protected RunningHost Host { get; private set; } = null!;

    private protected OrderSink Shop { get; private set; } = null!;

    /// <summary>The sections <c>transport</c> and <c>store</c>, and further endpoints and sections where the fixture needs them.</summary>
    private protected abstract string Sections { get; }

    private protected virtual string Endpoints => "";

    /// <summary>Topics beside <c>orders</c>.</summary>
    private protected virtual string Topics => "";

    /// <summary>How the shop is delivered to.</summary>
    private protected virtual string Delivery => "\"poolSize\": 8, \"processingThreads\": 8";

    private protected virtual IReadOnlyDictionary<string, string> Variables => new Dictionary<string, string>();

    [SetUp]
    public async Task StartHost()
    {
        _folder = Directory.CreateTempSubdirectory("esb-replay-");
        Shop = await OrderSink.StartAsync();
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            $$"""
            {
              {{Sections}}
              "topics": { "orders": { "key": { "jsonpath": "$.customer" } } {{Topics}} },
              "endpoints": {
                "orders-in": { "type": "http-inbound", "path": "/orders", "publish": "orders.new" },
                "shop": { "type": "http-outbound", "subscribe": ["orders.#"], "url": "{{Shop.Url}}", {{Delivery}} }
                {{Endpoints}}
              }
            }
            """
        );
        await StartHostAsync(CancellationToken.None);
    }

    [TearDown]
    public async Task StopHost()
    {
        await Host.DisposeAsync();
        await Shop.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    private protected async Task<JsonElement> PostAsync(string path, string body, CancellationToken cancellationToken)
    {
        using var response = await PostedAsync(path, body, cancellationToken);
        var text = await response.Content.ReadAsStringAsync(cancellationToken);
        Assert.That(response.IsSuccessStatusCode, Is.True, text);
        return JsonDocument.Parse(text).RootElement;
    }

    /// <summary>As <see cref="PostAsync"/>, of what may be refused.</summary>
    private protected async Task<HttpResponseMessage> PostedAsync(string path, string body, CancellationToken cancellationToken)
    {
        var key = await File.ReadAllTextAsync(Path.Combine(_folder.FullName, "esb-data", "management.key"), cancellationToken);
        using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(Host.Management, path));
        if (body.Length > 0)
            request.Content = new StringContent(body, Encoding.UTF8, "application/json");
        request.Headers.Authorization = new AuthenticationHeaderValue("Bearer", key.Trim());
        return await Host.Client.SendAsync(request, cancellationToken);
    }

    private protected static IReadOnlyList<JsonElement> Items(JsonElement page) => [.. page.GetProperty("items").EnumerateArray()];

    private protected static string? StateOf(JsonElement thing) => thing.GetProperty("state").GetString();

    private protected async Task<IReadOnlyList<Guid>> OrderAsync(int count, CancellationToken cancellationToken)
    {
        var ids = new List<Guid>();
        foreach (var chunk in Enumerable.Range(0, count).Chunk(20))
            ids.AddRange(await Task.WhenAll(chunk.Select(number => OrderAsync($"{number}", cancellationToken))));
        return ids;
    }

    private protected async Task<IReadOnlyList<Guid>> MakeLettersAsync(int count, CancellationToken cancellationToken)
    {
        Shop.Refuses = _ => true;
        var ids = await OrderAsync(count, cancellationToken);
        await Host.WaitAsync(
            async token => Items(await Host.AskAsync("/api/dead-letters?endpoint=shop&limit=1000", token)).Count == count,
            TimeSpan.FromSeconds(60),
            $"to keep {count} dead letters",
            cancellationToken
        );
        return ids;
    }

    private protected async Task<Guid> OrderAsync(string body, CancellationToken cancellationToken)
    {
        using var response = await Host.PostAsync("/orders", body, "application/json", cancellationToken);
        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.Accepted));
        return Guid.Parse(response.Headers.GetValues("Esb-Message-Id").Single());
    }

    private protected Task TakenAsync(IReadOnlyList<Guid> ids, CancellationToken cancellationToken) =>
        Host.WaitAsync(
            _ => Task.FromResult(!ids.Except(Shop.Taken.Select(taken => taken.Message)).Any()),
            TimeSpan.FromSeconds(60),
            $"to deliver all {ids.Count} orders",
            cancellationToken
        );

    private protected Task<(int ExitCode, string Output, string Error)> RunAsync(
        CancellationToken cancellationToken,
        params string[] arguments
    ) => CommandLine.RunAsync(_folder.FullName, cancellationToken, [.. arguments, "--url", Host.Management.ToString()]);

    private protected async Task StartHostAsync(CancellationToken cancellationToken) =>
        Host = await RunningHost.StartAsync("esb.json", _folder.FullName, cancellationToken, Variables);
}
