using System.Diagnostics;
using System.Net.Http.Json;
using Esb.IntegrationTests.Faults.Farm;
using Esb.Tests;

namespace Esb.IntegrationTests.Faults.Network;

/// <summary>A Toxiproxy of its own, driven over its API (https://github.com/Shopify/toxiproxy).</summary>
internal sealed class Toxiproxy : INetworkProxy
{
    private const string Proxy = "server";

    private readonly Process _process;
    private readonly HttpClient _api;
    private readonly List<string> _toxics = [];

    private Toxiproxy(string program)
    {
        var api = FreePorts.Next();
        Port = FreePorts.Next();
        var start = new ProcessStartInfo(program, ["-host", "127.0.0.1", "-port", $"{api}"])
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        _process = Process.Start(start)!;
        _process.OutputDataReceived += (_, _) => { }; // read, so that it never waits for a reader
        _process.ErrorDataReceived += (_, _) => { };
        _process.BeginOutputReadLine();
        _process.BeginErrorReadLine();
        _api = new HttpClient { BaseAddress = new Uri($"http://127.0.0.1:{api}") };
    }

    public int Port { get; }

    public static async Task<Toxiproxy> StartAsync(string program, int serverPort)
    {
        var proxy = new Toxiproxy(program);
        for (var tries = 0; ; tries++)
        {
            try
            {
                await proxy.PostAsync(
                    "/proxies",
                    new
                    {
                        name = Proxy,
                        listen = $"127.0.0.1:{proxy.Port}",
                        upstream = $"127.0.0.1:{serverPort}",
                        enabled = true,
                    }
                );
                return proxy;
            }
            catch (HttpRequestException) when (tries < 100)
            {
                await Task.Delay(50); // it is coming up
            }
        }
    }

    public Task DelayAsync(TimeSpan latency, TimeSpan jitter)
    {
        var attributes = new { latency = (int)latency.TotalMilliseconds, jitter = (int)jitter.TotalMilliseconds };
        return Task.WhenAll(AddAsync("latency", "upstream", attributes), AddAsync("latency", "downstream", attributes));
    }

    public Task StallAsync() =>
        Task.WhenAll(AddAsync("timeout", "upstream", new { timeout = 0 }), AddAsync("timeout", "downstream", new { timeout = 0 }));

    public Task DeafenAsync() => AddAsync("timeout", "downstream", new { timeout = 0 });

    public Task ResetAsync() => AddAsync("reset_peer", "downstream", new { timeout = 0 });

    public Task CutAfterAsync(long bytes, bool fromServer) => AddAsync("limit_data", fromServer ? "downstream" : "upstream", new { bytes });

    public async Task HealAsync()
    {
        foreach (var toxic in _toxics)
            await _api.DeleteAsync(new Uri($"/proxies/{Proxy}/toxics/{toxic}", UriKind.Relative));
        _toxics.Clear();
    }

    public async ValueTask DisposeAsync()
    {
        _process.Kill();
        await _process.WaitForExitAsync();
        _process.Dispose();
        _api.Dispose();
    }

    private Task AddAsync(string type, string stream, object attributes)
    {
        var name = $"{type}-{stream}";
        lock (_toxics)
            _toxics.Add(name);
        return PostAsync(
            $"/proxies/{Proxy}/toxics",
            new
            {
                name,
                type,
                stream,
                toxicity = 1.0,
                attributes,
            }
        );
    }

    private async Task PostAsync(string path, object content)
    {
        using var response = await _api.PostAsJsonAsync(new Uri(path, UriKind.Relative), content);
        response.EnsureSuccessStatusCode();
    }
}
