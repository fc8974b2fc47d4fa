using System.Net;
using System.Net.Http.Headers;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.IntegrationTests.Sql;
using Esb.Tests.Content.Codecs;

namespace Esb.IntegrationTests.EndToEnd.Content;

/// <summary>One host for the tests of steps that change content, with external systems, a database and keys.</summary>
[System.Runtime.Versioning.UnsupportedOSPlatform("windows")]
internal sealed class ContentFixture : IAsyncDisposable
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(30);

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("esb-content-");
    private readonly string _configuration;

    private ContentFixture(Shop shop, ScriptedBackend backend, string sections)
    {
        (Shop, Backend) = (shop, backend);
        Keys = new SecureKeyFiles();
        Keys.MakePgpKeys();
        _configuration = Path.Combine(_folder.FullName, "esb.json");
        File.WriteAllText(
            Path.Combine(_folder.FullName, "sizes.js"),
            """export default (input, context) => input.sizes.map(size => context.lookup('sizes', size)?.label ?? 'none')"""
        );
        File.WriteAllText(
            Path.Combine(_folder.FullName, "label.liquid"),
            """{{ input.code | lookup: "sizes", "label" | default: "none" }}"""
        );
        File.WriteAllText(_configuration, ContentConfiguration.Of(sections, backend.Url, Keys));
    }

    public Shop Shop { get; }

    public ScriptedBackend Backend { get; }

    public SecureKeyFiles Keys { get; }

    public RunningHost Host { get; private set; } = null!;

    public static async Task<ContentFixture> StartAsync(string sections)
    {
        var shop = await Shop.CreateAsync();
        await shop.ExecuteAsync("create table sizes (code text primary key, label text); insert into sizes values ('s', 'small')");
        var fixture = new ContentFixture(shop, await ScriptedBackend.StartAsync(AnswerAsync), sections);
        await fixture.StartHostAsync(CancellationToken.None);
        return fixture;
    }

    public async Task KillAndStartAsync(CancellationToken cancellationToken)
    {
        Host.Kill();
        await Host.DisposeAsync();
        await StartHostAsync(cancellationToken);
    }

    public async Task<(HttpStatusCode Status, string Body)> PostAsync(
        string path,
        string body,
        CancellationToken cancellationToken,
        params (string Name, string Value)[] headers
    ) => await PostAsync(path, new StringContent(body, MediaTypeHeaderValue.Parse("application/json")), cancellationToken, headers);

    public async Task<(HttpStatusCode Status, string Body)> PostAsync(
        string path,
        HttpContent content,
        CancellationToken cancellationToken,
        params (string Name, string Value)[] headers
    )
    {
        using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(Host.Public, path)) { Content = content };
        foreach (var (name, value) in headers)
            request.Headers.Add(name, value);
        using var response = await Host.Client.SendAsync(request, cancellationToken);
        return (response.StatusCode, await response.Content.ReadAsStringAsync(cancellationToken));
    }

    public static HttpContent BytesOf(byte[] bytes, string contentType) =>
        new ByteArrayContent(bytes) { Headers = { ContentType = MediaTypeHeaderValue.Parse(contentType) } };

    /// <summary>Waits until that many files lie in a folder, and returns their texts by name.</summary>
    public async Task<IReadOnlyDictionary<string, string>> WaitForFilesAsync(string folder, int count, CancellationToken cancellationToken)
    {
        var path = Path.Combine(_folder.FullName, folder);
        await Host.WaitAsync(
            _ => Task.FromResult(FilesIn(path).Count >= count),
            Limit,
            $"to write {count} files into {folder}",
            cancellationToken
        );
        return FilesIn(path).ToDictionary(file => Path.GetFileName(file), File.ReadAllText);
    }

    /// <summary>Puts a complete file into a folder.</summary>
    public async Task DropAsync(string folder, string name, string content, CancellationToken cancellationToken)
    {
        var path = Directory.CreateDirectory(Path.Combine(_folder.FullName, folder)).FullName;
        var hidden = Path.Combine(path, $".{name}");
        await File.WriteAllTextAsync(hidden, content, cancellationToken);
        File.Move(hidden, Path.Combine(path, name));
    }

    public int CountFiles(string folder) => FilesIn(Path.Combine(_folder.FullName, folder)).Count;

    // Those that are being written have hidden names.
    private static List<string> FilesIn(string path) =>
        Directory.Exists(path) ? [.. Directory.GetFiles(path).Where(file => !Path.GetFileName(file).StartsWith('.'))] : [];

    public async ValueTask DisposeAsync()
    {
        await Host.DisposeAsync();
        await Backend.DisposeAsync();
        await Shop.DisposeAsync();
        Keys.StopPgpAgent();
        Keys.Dispose();
        _folder.Delete(recursive: true);
    }

    private async Task StartHostAsync(CancellationToken cancellationToken) =>
        Host = await RunningHost.StartAsync(
            _configuration,
            _folder.FullName,
            cancellationToken,
            new Dictionary<string, string>
            {
                ["ESB_RABBITMQ"] = Servers.RabbitMq,
                ["ESB_POSTGRES"] = Servers.Postgres,
                ["SHOP"] = Shop.ConnectionString,
            }
        );

    private static async Task<(int, string)> AnswerAsync(string path, CancellationToken cancellationToken)
    {
        if (path.StartsWith("/slow", StringComparison.Ordinal))
            await Task.Delay(TimeSpan.FromSeconds(30), cancellationToken);
        return path switch
        {
            "/crm/7" => (200, """{"name":"Ann"}"""),
            "/dhl" => (200, """{"price":7}"""),
            "/ups" => (200, """{"price":9}"""),
            "/throttled" => (200, "{}"),
            _ => (404, """{"error":"unknown"}"""),
        };
    }
}
