using System.Text.Json.Nodes;
using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Storage;
using Esb.Host;
using Esb.Host.Composition;
using Esb.Host.Lifecycle;
using Esb.Host.Reloading;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Host.Operating;

/// <summary>A whole bus in this process, over a folder that outlives it.</summary>
internal sealed class RunningBus : IAsyncDisposable
{
    public static readonly OperatorDecision Operator = new("ops", Reason: null);

    private RunningBus(ServiceProvider services) => Services = services;

    public ServiceProvider Services { get; }

    public IFarmTuning Tuning => Services.GetRequiredService<IFarmTuning>();

    public IEnumerable<string> Notices => Services.GetServices<IHealthNotices>().SelectMany(one => one.Notices);

    /// <summary>A configuration with an endpoint <c>ledger</c> that writes into the folder.</summary>
    public static JsonObject Configuration(string folder) =>
        new()
        {
            ["name"] = "operated",
            ["store"] = new JsonObject { ["type"] = "file", ["folder"] = Path.Combine(folder, "data") },
            ["management"] = new JsonObject { ["url"] = $"http://127.0.0.1:{FreePorts.Next()}" },
            ["topics"] = new JsonObject { ["orders"] = new JsonObject() },
            ["endpoints"] = new JsonObject
            {
                ["ledger"] = new JsonObject
                {
                    ["type"] = "file-outbound",
                    ["subscribe"] = new JsonArray("orders.#"),
                    ["folder"] = Path.Combine(folder, "out"),
                    ["fileName"] = "{message.id}.json",
                },
            },
        };

    public static async Task<RunningBus> StartAsync(
        string path,
        CancellationToken cancellationToken,
        IReadOnlyDictionary<string, string>? variables = null
    )
    {
        var bus = new RunningBus(BusServices.Build(path, variables ?? new Dictionary<string, string>(), new ServiceCollection().AddEsb()));
        await bus.Services.GetRequiredService<BusLifecycle>().StartAsync(cancellationToken);
        return bus;
    }

    public EndpointStatus StatusOf(string endpoint) =>
        Services.GetServices<IEndpointMonitor>().SelectMany(monitor => monitor.Endpoints).Single(status => status.Name == endpoint);

    public Task<ReloadResult> ReloadAsync(CancellationToken cancellationToken) =>
        Services.GetRequiredService<ReloadDesk>().ReloadAsync(Operator, default, cancellationToken);

    public async ValueTask DisposeAsync()
    {
        await Services.GetRequiredService<BusLifecycle>().StopAsync(CancellationToken.None);
        await Services.DisposeAsync();
    }
}
