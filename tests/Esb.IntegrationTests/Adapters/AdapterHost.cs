using System.Net;
using System.Net.Http.Json;
using System.Text.Json;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.Adapters;

/// <summary>A whole host whose endpoint <c>partner</c> uses a system: what the endpoint takes is written into a folder, and what is put at
/// <c>/items</c> is delivered by it.</summary>
internal sealed class AdapterHost(AdapterSystem system) : IAsyncDisposable
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(90); // a lease lasts 10 s

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("esb-adapter-");
    private RunningHost? _process;

    private RunningHost Process => _process!;

    private string Written => Path.Combine(_folder.FullName, "written");

    /// <summary>Writes the configuration.</summary>
    /// <param name="credential">The variable of the endpoint's credential.</param>
    /// <param name="more">Further settings of the endpoint, each behind a comma.</param>
    /// <param name="target">Where an inbound endpoint's messages go.</param>
    /// <param name="ordered">Whether items pass one after the other.</param>
    public Task ConfigureAsync(
        string credential = AdapterSystem.Right,
        string more = "",
        string target = "\"publish\": \"items.new\"",
        bool ordered = false
    )
    {
        var (endpoint, path) = (system.Endpoint(credential).Trim(), JsonSerializer.Serialize(Written));
        var delivery = ordered ? "\"delivery\": \"ordered\"" : "\"poolSize\": 2, \"processingThreads\": 2";
        var endpoints = system.IsInbound
            ? $$"""
                "partner": { {{endpoint}}, {{target}}{{more}} },
                    "files": {
                      "type": "file-outbound", "subscribe": ["items.#"], "folder": {{path}}, "fileName": "{sequence:000000}_{message.id}.json", {{delivery}}
                    }
                """
            : $$"""
                "items": { "type": "http-inbound", "path": "/items", "publish": "items.new" },
                    "partner": {
                      {{endpoint}},
                      "subscribe": ["items.#"], {{delivery}}, "timeout": "5s", "circuitBreaker": { "failures": 3, "probe": "1s" },
                      "retry": { "immediate": 0, "delays": [{{string.Join(", ", Enumerable.Repeat("\"500ms\"", 20))}}] }{{more}}
                    }
                """;
        return File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            $$"""
            {
              "name": "adapter{{system.Id}}",
              "transport": { "type": "rabbitmq", "url": "${env:ESB_RABBITMQ}", "prefix": "adapter{{system.Id}}" },
              "store": { "type": "postgres", "connection": "${env:ESB_POSTGRES}", "schema": "adapter_{{system.Id}}" },
              {{system.Sections(credential)}}
              "topics": { "items": { {{(ordered ? "\"key\": { \"value\": \"all\" }" : "")}} } },
              "processes": { "forget": [], "pass": [{ "publish": "items.new" }], "mark": [{ "set": { "properties": { "seen": true } } }] },
              "endpoints": {
                {{endpoints}}
              }
            }
            """
        );
    }

    public async Task StartAsync(CancellationToken cancellationToken)
    {
        var variables = new Dictionary<string, string>(system.Variables)
        {
            ["ESB_RABBITMQ"] = Servers.RabbitMq,
            ["ESB_POSTGRES"] = Servers.Postgres,
        };
        _process = await RunningHost.StartAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            _folder.CreateSubdirectory("host").FullName,
            cancellationToken,
            variables
        );
    }

    /// <summary>Ends the host as a crash does.</summary>
    public async Task KillAsync()
    {
        Process.Kill();
        await Process.DisposeAsync();
    }

    /// <summary>Puts an item where the endpoint gets it.</summary>
    public async Task PutAsync(int number, CancellationToken cancellationToken)
    {
        if (system.IsInbound)
        {
            await system.PutAsync(number, cancellationToken);
            return;
        }

        using var answer = await Process.PostAsync("/items", system.BodyOf(number), system.ContentType, cancellationToken);
        Assert.That(answer.StatusCode, Is.EqualTo(HttpStatusCode.Accepted), Process.Output);
    }

    /// <summary>Returns what has arrived behind the endpoint, in that order.</summary>
    public async Task<IReadOnlyList<Arrival>> ArrivedAsync(CancellationToken cancellationToken)
    {
        if (!system.IsInbound)
            return await system.ArrivedAsync(cancellationToken);
        var files = Directory.Exists(Written) ? Directory.GetFiles(Written, "*.json") : [];
        return await Task.WhenAll(
            files
                .Order()
                .Select(async file => system.ArrivalOf(Path.GetFileName(file), await File.ReadAllTextAsync(file, cancellationToken)))
        );
    }

    /// <summary>Waits until so many different messages have arrived.</summary>
    public Task WaitForArrivalsAsync(int count, CancellationToken cancellationToken) =>
        WaitAsync(
            async token => (await ArrivedAsync(token)).DistinctBy(arrival => arrival.Id).Count() >= count,
            $"to pass {count} items on",
            cancellationToken
        );

    public Task WaitAsync(
        Func<CancellationToken, Task<bool>> condition,
        string what,
        CancellationToken cancellationToken,
        TimeSpan? limit = null
    ) => Process.WaitAsync(condition, limit ?? Limit, what, cancellationToken);

    /// <summary>The endpoint, as the API shows it.</summary>
    public Task<JsonElement> StatusAsync(CancellationToken cancellationToken) => AskAsync("/api/endpoints/partner", cancellationToken);

    /// <summary>Waits until the endpoint is in a state.</summary>
    public Task WaitForStateAsync(string state, CancellationToken cancellationToken) =>
        WaitAsync(
            async token => (await StatusAsync(token)).GetProperty("state").GetString() == state,
            $"to show the endpoint as {state}",
            cancellationToken
        );

    /// <summary>Pauses the endpoint as an operator does, or resumes it.</summary>
    public async Task PauseAsync(bool paused, CancellationToken cancellationToken)
    {
        await SendAsync(HttpMethod.Patch, "/api/endpoints/partner", new { paused }, cancellationToken);
        await WaitForStateAsync(paused ? "paused-by-operator" : "running", cancellationToken);
    }

    /// <summary>Waits until it is told that the system cannot be used.</summary>
    public Task WaitForTroubleAsync(CancellationToken cancellationToken) =>
        WaitAsync(
            async token => system.IsTold(await StatusAsync(token)),
            "to tell why the endpoint does not work",
            cancellationToken,
            TimeSpan.FromSeconds(150)
        );

    public Task<JsonElement> AskAsync(string path, CancellationToken cancellationToken) => Process.AskAsync(path, cancellationToken);

    public Task<JsonElement> TellAsync(string path, CancellationToken cancellationToken) => Process.TellAsync(path, cancellationToken);

    /// <summary>Sends a body to the management API.</summary>
    public async Task<JsonElement> SendAsync(HttpMethod method, string path, object body, CancellationToken cancellationToken)
    {
        using var request = new HttpRequestMessage(method, new Uri(Process.Management, path)) { Content = JsonContent.Create(body) };
        var key = await File.ReadAllTextAsync(Path.Combine(Process.Folder, "esb-data", "management.key"), cancellationToken);
        request.Headers.Add("X-Esb-Key", key.Trim());
        using var answer = await Process.Client.SendAsync(request, cancellationToken);
        var text = await answer.Content.ReadAsStringAsync(cancellationToken);
        Assert.That(answer.IsSuccessStatusCode, Is.True, $"{path}: {text}");
        return JsonDocument.Parse(text).RootElement;
    }

    public long PeakMemory => ((HostProcess)Process).PeakMemory;

    public string Output => Process.Output;

    public Task<bool> IsReadyAsync(CancellationToken cancellationToken) => Process.IsReadyAsync(cancellationToken);

    /// <summary>Checks that each item arrived as one message, whatever its number of copies, and that none was given up.</summary>
    public async Task AssertNoneLostAsync(int items, CancellationToken cancellationToken)
    {
        var messages = (await ArrivedAsync(cancellationToken)).Distinct().ToList();
        var letters = await CountDeadLettersAsync(cancellationToken);
        using (Assert.EnterMultipleScope())
        {
            Assert.That(messages.Select(message => message.Number).Order(), Is.EqualTo(Enumerable.Range(0, items)), Output);
            Assert.That(messages.Select(message => message.Id).Distinct().Count(), Is.EqualTo(items), "a copy has the id of the first");
            Assert.That(letters, Is.Zero, "nothing is given up");
        }
    }

    public Task WaitForDeadLettersAsync(int count, CancellationToken cancellationToken) =>
        WaitAsync(async token => await CountDeadLettersAsync(token) == count, $"to give {count} messages up", cancellationToken);

    private async Task<int> CountDeadLettersAsync(CancellationToken cancellationToken) =>
        (await AskAsync("/api/dead-letters", cancellationToken))
            .GetProperty("items")
            .EnumerateArray()
            .Count(letter => letter.GetProperty("state").GetString() != "replayed");

    public async ValueTask DisposeAsync()
    {
        if (_process is not null)
            await _process.DisposeAsync();
        _folder.Delete(recursive: true);
    }
}
