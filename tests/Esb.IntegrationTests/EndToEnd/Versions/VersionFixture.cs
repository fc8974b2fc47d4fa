using System.Net.Http.Headers;
using System.Text.Json;
using System.Text.Json.Nodes;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd.Versions;

/// <summary>A host with a map, whose configuration an operator changes in a folder and applies.</summary>
public abstract class VersionFixture
{
    private protected static readonly IReadOnlyDictionary<string, string> NoVariables = new Dictionary<string, string>();

    private protected DirectoryInfo Folder { get; private set; } = null!;

    private protected JsonObject Json { get; private set; } = null!;

    private protected HostProcess Host { get; private set; } = null!;

    private protected string Configuration => Path.Combine(Folder.FullName, "configuration");

    private protected JsonObject Endpoints => (JsonObject)Json["endpoints"]!;

    /// <summary>The place of the configuration: files or store.</summary>
    private protected abstract string Place { get; }

    [SetUp]
    public async Task StartHost()
    {
        Folder = Directory.CreateTempSubdirectory("esb-versions-");
        Directory.CreateDirectory(Path.Combine(Configuration, "maps"));
        Json = new JsonObject
        {
            ["name"] = $"versions-{Guid.NewGuid():N}"[..30],
            ["management"] = new JsonObject { ["configuration"] = Place },
            ["maps"] = new JsonObject { ["mark"] = "maps/mark.xslt" },
            ["processes"] = new JsonObject { ["in"] = new JsonArray(new JsonObject { ["transform"] = "mark" }) },
            ["endpoints"] = new JsonObject
            {
                ["shop"] = new JsonObject
                {
                    ["type"] = "http-inbound",
                    ["path"] = "/orders",
                    ["mode"] = "request-reply",
                    ["process"] = "in",
                },
            },
        };
        await WriteAsync("one");
        var folder = Folder.CreateSubdirectory("host").FullName;
        await PrepareAsync(folder);
        Host = await StartAsync(Configuration, folder, CancellationToken.None);
        await Host.WaitAsync(
            async token => (await VersionsAsync(token)).Count > 0,
            TimeSpan.FromSeconds(20),
            "to keep a version",
            CancellationToken.None
        );
    }

    [TearDown]
    public async Task StopHost()
    {
        if (Host is not null)
            await Host.DisposeAsync();
        await ReleaseAsync();
        Folder.Delete(recursive: true);
    }

    /// <summary>Prepares the folder in which the host works, before it starts.</summary>
    private protected virtual Task PrepareAsync(string folder) => Task.CompletedTask;

    /// <summary>Releases what was prepared, after the host has ended.</summary>
    private protected virtual Task ReleaseAsync() => Task.CompletedTask;

    /// <summary>Writes the configuration with a map that marks what it makes.</summary>
    private protected async Task WriteAsync(string mark)
    {
        await File.WriteAllTextAsync(
            Path.Combine(Configuration, "maps", "mark.xslt"),
            $"""
            <xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
              <xsl:template match="/"><made by="{mark}"/></xsl:template>
            </xsl:stylesheet>
            """
        );
        await File.WriteAllTextAsync(Path.Combine(Configuration, "esb.json"), Json.ToJsonString());
    }

    private protected Task<(int ExitCode, string Output, string Error)> EsbAsync(
        CancellationToken cancellationToken,
        params string[] arguments
    ) => CommandLine.RunAsync(Host.Folder, cancellationToken, [.. arguments, "--url", Host.Management.OriginalString]);

    private protected async Task<string> MarkAsync(CancellationToken cancellationToken, string path = "/orders")
    {
        using var answer = await Host.Client.PostAsync(
            new Uri(Host.Public, path),
            new StringContent("<order/>", new MediaTypeHeaderValue("application/xml")),
            cancellationToken
        );
        var text = await answer.Content.ReadAsStringAsync(cancellationToken);
        return answer.IsSuccessStatusCode ? text.Split("by=\"")[1].Split('"')[0] : $"{(int)answer.StatusCode}";
    }

    private protected async Task<IReadOnlyList<JsonElement>> VersionsAsync(CancellationToken cancellationToken) =>
        [.. (await Host.AskAsync("/api/configuration/versions", cancellationToken)).GetProperty("items").EnumerateArray()];

    private protected async Task<long?> RunningAsync(CancellationToken cancellationToken)
    {
        var running = (await Host.AskAsync("/api/configuration/versions", cancellationToken)).GetProperty("running");
        return running.ValueKind == JsonValueKind.Number ? running.GetInt64() : null;
    }

    private protected async Task<IReadOnlyList<string>> NoticesAsync(CancellationToken cancellationToken) =>
        [
            .. (await Host.AskAsync("/health/ready", cancellationToken))
                .GetProperty("notices")
                .EnumerateArray()
                .Select(notice => notice.GetString()!),
        ];

    private protected async Task RestartAsync(CancellationToken cancellationToken)
    {
        await Host.StopAsync(cancellationToken);
        var folder = Host.Folder;
        await Host.DisposeAsync();
        Host = await StartAsync(Configuration, folder, cancellationToken);
    }

    /// <summary>An endpoint that the hosts of these tests cannot make.</summary>
    private protected JsonObject Broken() =>
        new()
        {
            ["type"] = "file-outbound",
            ["folder"] = Path.Combine(Folder.FullName, "out"),
            ["fileName"] = "{message.id}",
        };

    /// <summary>As <see cref="Broken"/>, with an endpoint that starts only when the host has its lease.</summary>
    private protected JsonObject BrokenSingle() =>
        new()
        {
            ["type"] = "file-inbound",
            ["folder"] = Path.Combine(Folder.FullName, "in"),
            ["process"] = "note",
            ["singleInstance"] = true,
        };

    private protected static async Task<HostProcess> StartAsync(
        string configuration,
        string folder,
        CancellationToken cancellationToken,
        IReadOnlyDictionary<string, string>? variables = null
    )
    {
        var host = HostProcess.Launch(
            Repository.KnownBadHost,
            configuration,
            folder,
            new Dictionary<string, string>(variables ?? NoVariables) { ["ESB_KNOWNBAD_UNMADE"] = "broken" }
        );
        await host.WaitUntilReadyAsync(cancellationToken);
        return host;
    }
}
