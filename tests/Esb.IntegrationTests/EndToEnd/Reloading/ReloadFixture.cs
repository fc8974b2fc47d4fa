using System.Net;
using System.Text.Json;
using System.Text.Json.Nodes;
using Esb.IntegrationTests.EndToEnd.Hosts;
using NUnit.Framework.Interfaces;

namespace Esb.IntegrationTests.EndToEnd.Reloading;

/// <summary>A host with an inbound endpoint, a process and an outbound endpoint, whose configuration a test changes and reloads.</summary>
/// <remarks>Tests share a host, which begins each with the same configuration; those with the property
/// <see cref="OwnHost"/> do not.</remarks>
[OwnProcess]
public abstract class ReloadFixture
{
    /// <summary>Of a test that leaves something behind in the host, or starts it otherwise.</summary>
    protected const string OwnHost = "OwnHost";

    private protected static readonly Dictionary<string, string> Variables = new() { ["ESB_RABBITMQ"] = Servers.RabbitMq };

    private string _name = "";
    private JsonObject _transport = null!;
    private bool _isKept; // the host, for the next test
    private int _tests;

    private protected DirectoryInfo Folder { get; private set; } = null!;

    private protected JsonObject Json { get; private set; } = null!;

    private protected RunningHost Host { get; private set; } = null!;

    private protected abstract JsonObject Transport { get; }

    private protected abstract bool KeepsWhatWaits { get; }

    private protected string Configuration => Path.Combine(Folder.FullName, "esb.json");

    private protected JsonObject Endpoints => (JsonObject)Json["endpoints"]!;

    private static bool IsShared => !TestContext.CurrentContext.Test.Properties.ContainsKey(OwnHost);

    [SetUp]
    public async Task StartHost()
    {
        if (!IsShared)
            await StopKeptHost();
        if (!_isKept)
            (Folder, _name, _transport) = (Directory.CreateTempSubdirectory("esb-reload-"), $"reload-{Guid.NewGuid():N}", Transport);
        _tests++;
        Json = new JsonObject
        {
            ["name"] = _name,
            ["transport"] = _transport.DeepClone(),
            ["topics"] = new JsonObject { ["orders"] = new JsonObject() },
            ["processes"] = new JsonObject { ["in"] = Process("1") },
            ["endpoints"] = new JsonObject
            {
                ["shop"] = new JsonObject
                {
                    ["type"] = "http-inbound",
                    ["path"] = "/orders",
                    ["process"] = "in",
                },
                ["files"] = Files("files"),
            },
        };
        if (TestContext.CurrentContext.Test.Properties.Get(OwnHost) is "watch")
            Json["management"] = new JsonObject { ["reload"] = "watch" };
        await WriteAsync();
        if (_isKept)
            await Host.TellAsync("/api/configuration/reload", CancellationToken.None);
        else
            Host = await RunningHost.StartAsync(
                Configuration,
                Folder.CreateSubdirectory("host").FullName,
                CancellationToken.None,
                Variables
            );
        _isKept = true;
    }

    [TearDown]
    public async Task StopHost()
    {
        if (!IsShared || TestContext.CurrentContext.Result.Outcome.Status != TestStatus.Passed)
            await StopKeptHost();
    }

    [OneTimeTearDown]
    public async Task StopKeptHost()
    {
        if (!_isKept)
            return;
        _isKept = false;
        await Host.DisposeAsync();
        Folder.Delete(recursive: true);
    }

    private protected static JsonArray Process(string version) => [Set(version), new JsonObject { ["publish"] = "orders.new" }];

    private protected static JsonObject Set(string version) =>
        new() { ["set"] = new JsonObject { ["headers"] = new JsonObject { ["x-version"] = version } } };

    private protected static void Note(List<string> written, string? file)
    {
        if (file is null || Path.GetExtension(file) != ".json")
            return;
        lock (written)
            written.Add(Path.GetFileNameWithoutExtension(file));
    }

    private protected JsonObject Files(string folder) =>
        new()
        {
            ["type"] = "file-outbound",
            ["subscribe"] = new JsonArray("orders.new"),
            ["folder"] = PathOf(folder),
            ["fileName"] = "{message.id}-{header.x-version}.json",
        };

    // One thing at a time.
    private protected void Change(int round)
    {
        switch (round % 6)
        {
            case 0:
                Endpoints["files"]!["folder"] = PathOf(round % 12 == 0 ? "others" : "files");
                break;
            case 1:
                Endpoints["files"]!["retry"] = new JsonObject { ["immediate"] = round % 5 };
                break;
            case 2:
                Endpoints["files"]!["subscribe"] = new JsonArray("orders.new", $"orders.round{round}");
                break;
            case 3:
                Json["processes"] = new JsonObject { ["in"] = Process($"{round}") };
                break;
            case 4:
                Endpoints["added"] = Files("added");
                break;
            default:
                Endpoints.Remove("added");
                break;
        }
    }

    private protected async Task<List<string>> SendAsync(CancellationToken stopping)
    {
        var accepted = new List<string>();
        while (!stopping.IsCancellationRequested)
            accepted.Add(await PostAsync("/orders", CancellationToken.None));
        return accepted;
    }

    private protected async Task<string> PostAsync(string path, CancellationToken cancellationToken, int number = 0)
    {
        using var response = await PostedAsync(path, cancellationToken, number);
        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.Accepted), await response.Content.ReadAsStringAsync(cancellationToken));
        return response.Headers.GetValues("Esb-Message-Id").Single();
    }

    private protected async Task<HttpResponseMessage> PostedAsync(string path, CancellationToken cancellationToken, int number = 0)
    {
        using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(Host.Public, path))
        {
            Content = new StringContent("{}", new System.Net.Http.Headers.MediaTypeHeaderValue("application/json")),
        };
        request.Headers.Add("X-Number", $"{number}");
        return await Host.Client.SendAsync(request, cancellationToken);
    }

    private protected async Task<(int ExitCode, string Output, string Error)> ReloadAsync(CancellationToken cancellationToken)
    {
        await WriteAsync();
        return await EsbAsync(cancellationToken, "reload");
    }

    private protected Task<(int ExitCode, string Output, string Error)> EsbAsync(
        CancellationToken cancellationToken,
        params string[] arguments
    ) => CommandLine.RunAsync(Host.Folder, cancellationToken, [.. arguments, "--url", Host.Management.OriginalString]);

    private protected async Task RestartAsync(CancellationToken cancellationToken)
    {
        await Host.DisposeAsync();
        await WriteAsync();
        Host = await RunningHost.StartAsync(Configuration, Folder.CreateSubdirectory("again").FullName, cancellationToken, Variables);
    }

    private protected Task WriteAsync() => File.WriteAllTextAsync(Configuration, Json.ToJsonString());

    private protected Task<JsonElement> ReadyAsync(CancellationToken cancellationToken) =>
        Host.AskAsync("/health/ready", cancellationToken);

    private protected async Task<int> CountAsync(string query, Predicate<JsonElement> condition, CancellationToken cancellationToken) =>
        (await Host.AskAsync($"/api/messages?{query}", cancellationToken))
            .GetProperty("items")
            .EnumerateArray()
            .Count(fact => condition(fact));

    private protected Task WaitForAsync(string folder, IReadOnlyCollection<string> names, CancellationToken cancellationToken) =>
        Host.WaitAsync(
            _ => Task.FromResult(Names(folder).ToHashSet().IsSupersetOf(names)),
            TimeSpan.FromSeconds(30),
            $"to write {string.Join(", ", names)} into {folder}",
            cancellationToken
        );

    private protected List<string> Ids(params string[] folders) => [.. folders.SelectMany(Names).Select(name => name[..36])];

    private protected List<string> Names(string folder) =>
        Directory.Exists(PathOf(folder))
            ? [.. Directory.GetFiles(PathOf(folder), "*.json").Select(file => Path.GetFileNameWithoutExtension(file))]
            : [];

    private protected string PathOf(string folder) => Path.Combine(Folder.FullName, $"{_tests}", folder);
}
