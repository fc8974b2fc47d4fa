using System.Net;
using System.Net.Sockets;
using Esb.Host.Composition;
using Esb.Host.Lifecycle;
using Esb.Host.Management;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Host.Management;

/// <summary>A management API on a free loopback port, over stand-ins; nothing of the bus behind it is started.</summary>
internal sealed class RunningManagement : IAsyncDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("esb-");

    private RunningManagement() { }

    public ServiceProvider Services { get; private set; } = null!;

    public ManagementServer Server { get; private set; } = null!;

    /// <summary>A client with the key.</summary>
    public HttpClient Client { get; private set; } = null!;

    public string Key => File.ReadAllText(Server.KeyFile).Trim();

    public ListedAuditStore Store => Services.GetRequiredService<ListedAuditStore>();

    public RecordingPublisher Publisher => Services.GetRequiredService<RecordingPublisher>();

    public static async Task<RunningManagement> StartAsync(
        CancellationToken cancellationToken,
        Action<IServiceCollection>? add = null,
        string management = "",
        IReadOnlyDictionary<string, string>? variables = null
    )
    {
        var running = new RunningManagement();
        var services = StandIns.Services();
        add?.Invoke(services);
        running.Services = BusServices.Build(
            running.WriteConfiguration(management),
            variables ?? new Dictionary<string, string>(),
            services
        );
        running.Server = new ManagementServer(running.Services, Path.Combine(running._folder.FullName, "esb-data", "management.key"));
        await running.Server.StartAsync(cancellationToken);
        running.Services.GetRequiredService<HostState>().Started();
        running.Client = new HttpClient { BaseAddress = running.Server.Address };
        if (File.Exists(running.Server.KeyFile))
            running.Client.DefaultRequestHeaders.Authorization = new("Bearer", running.Key);
        return running;
    }

    public async ValueTask DisposeAsync()
    {
        Client.Dispose();
        await Server.DisposeAsync();
        await Services.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    private string WriteConfiguration(string management)
    {
        var path = Path.Combine(_folder.FullName, "esb.json");
        File.WriteAllText(
            path,
            $$"""
            {
              "name": "shop",
              "management": { "url": "http://127.0.0.1:{{FreePorts.Next()}}" {{management}} },
              "limits": { "maxBodySize": "1KiB" },
              "topics": { "orders": {} },
              "endpoints": { "ledger": { "type": "file-outbound", "subscribe": ["orders.#"], "folder": "ledger" } }
            }
            """
        );
        return path;
    }
}
