using System.Net.Http.Headers;
using System.Net.Http.Json;
using System.Net.Sockets;
using System.Text.Json.Nodes;
using Esb.IntegrationTests.Faults.Farm;

namespace Esb.IntegrationTests.Faults.Nemeses;

/// <summary>An operator changes an endpoint while everything else goes on.</summary>
internal sealed class OperatorActs(HostFarm farm, string endpoint) : IDisposable
{
    private readonly HttpClient _client = new() { Timeout = TimeSpan.FromSeconds(10) };
    private int _changes;

    /// <summary>Changes that a host has made and told the others of.</summary>
    public int Changes => Volatile.Read(ref _changes);

    /// <summary>Other numbers, from then on.</summary>
    public Fault Resize(int poolSize, int processingThreads) =>
        Fault.Moment(
            $"{endpoint} {poolSize}/{processingThreads}",
            () => AskAnyAsync(new JsonObject { ["poolSize"] = poolSize, ["processingThreads"] = processingThreads })
        );

    /// <summary>As many messages may be on their way from the broker, from then on.</summary>
    public Fault Prefetch(int messages) =>
        Fault.Moment($"{endpoint} prefetch {messages}", () => AskAnyAsync(new JsonObject { ["prefetch"] = messages }));

    /// <summary>Nothing is delivered for a while. A host that was away when it was paused or resumed does not know, so all are told in the
    /// end.</summary>
    public Fault Pause() =>
        new Fault(
            $"pause {endpoint}",
            () => AskAnyAsync(new JsonObject { ["paused"] = true }),
            () => Task.WhenAll(farm.Hosts.Select(ResumeAsync)),
            default,
            default
        ).Lasting(0.5, 3);

    public void Dispose() => _client.Dispose();

    // Whichever answers: one may be dead right now, and another cannot reach the broker.
    private async Task AskAnyAsync(JsonObject change)
    {
        foreach (var host in farm.Hosts)
        {
            if (!await TryAsync(host, change))
                continue;
            Interlocked.Increment(ref _changes);
            return;
        }
    }

    private async Task ResumeAsync(FarmHost host)
    {
        while (!await TryAsync(host, new JsonObject { ["paused"] = false }))
            await Task.Delay(200);
    }

    private async Task<bool> TryAsync(FarmHost host, JsonObject change)
    {
        try
        {
            var key = await File.ReadAllTextAsync(Path.Combine(host.Folder, "esb-data", "management.key"));
            using var request = new HttpRequestMessage(HttpMethod.Patch, new Uri(host.Process.Management, $"/api/endpoints/{endpoint}"))
            {
                Content = JsonContent.Create(change),
            };
            request.Headers.Authorization = new AuthenticationHeaderValue("Bearer", key.Trim());
            using var response = await _client.SendAsync(request);
            return response.IsSuccessStatusCode;
        }
        catch (Exception ex)
            when (ex is HttpRequestException or SocketException or IOException or TaskCanceledException or InvalidOperationException)
        {
            return false; // it is being killed, or starts
        }
    }
}
