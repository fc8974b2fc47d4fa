using System.Net;
using System.Net.Http.Headers;
using System.Text.Json;
using System.Text.Json.Nodes;
using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Farm;

namespace Esb.IntegrationTests.Faults.Nemeses;

/// <summary>An operator changes one thing after the other in the files and has them reloaded, by one host or the other.</summary>
/// <param name="bench">With an endpoint <c>loose</c>.</param>
/// <param name="changes">Makes the change of a round, one thing at a time.</param>
/// <param name="wrong">Of so many rounds the files are wrong once; 0 for never. A host that starts meanwhile ends.</param>
/// <param name="applies">True to apply each change as a version in the store, and to go back after each fourth one.</param>
internal sealed class Reloads(FaultBench bench, Action<JsonObject, int> changes, int wrong, bool applies = false) : IDisposable
{
    private const int Back = 4;

    private readonly HttpClient _client = new() { Timeout = TimeSpan.FromSeconds(150) };

    /// <summary>Reloads that were made on both hosts.</summary>
    public int Done { get; private set; }

    /// <summary>Reloads that were refused because the files were wrong.</summary>
    public int Refused { get; private set; }

    /// <summary>Reloads that were not possible, because a host had just died or come.</summary>
    public int Elsewhere { get; private set; }

    public async Task RunAsync(int times, CancellationToken cancellationToken)
    {
        for (var i = 0; i < times; i++)
        {
            var good = JsonNode.Parse(await File.ReadAllTextAsync(bench.Configuration, cancellationToken))!.AsObject();
            var isWrong = wrong > 0 && i % wrong == wrong - 1;
            var next = good.DeepClone().AsObject();
            if (isWrong)
                next["endpoints"]!["loose"]!["type"] = "sql-outbund";
            else
                changes(next, i);
            await bench.ConfigureAsync(next);
            var host = bench.Farm.Hosts[i % bench.Farm.Hosts.Count];
            await ReloadAsync(host, isWrong, applies ? Applied(next) : ("/api/configuration/reload", null), cancellationToken);
            if (applies && i % Back == Back - 1 && await NewestAsync(host, cancellationToken) is > 1 and var newest)
                await ReloadAsync(
                    host,
                    isWrong: false,
                    ("/api/configuration/rollback", new JsonObject { ["number"] = newest - 1 }),
                    cancellationToken
                );
            if (isWrong)
                await bench.ConfigureAsync(good);
            await Task.Delay(200, cancellationToken);
        }
    }

    public void Dispose() => _client.Dispose();

    // A wrong configuration is refused by whichever host reads it; a right one needs both.
    private async Task ReloadAsync(
        FarmHost host,
        bool isWrong,
        (string Path, JsonObject? Body) command,
        CancellationToken cancellationToken
    )
    {
        while (true)
        {
            var (status, text) = await TryAsync(host, HttpMethod.Post, command.Path, command.Body, cancellationToken);
            if (isWrong && status == HttpStatusCode.UnprocessableEntity && text.Contains("endpoints.loose.type", StringComparison.Ordinal))
                Refused++;
            else if (!isWrong && status == HttpStatusCode.OK)
                Done++;
            else if (!isWrong && text.Contains("ESB-CONFIG-DIFFERS", StringComparison.Ordinal))
                Elsewhere++;
            else if (
                status is 0 or HttpStatusCode.Conflict or HttpStatusCode.ServiceUnavailable
                || text.Contains("ESB-CONFIG-DIFFERS", StringComparison.Ordinal)
            )
            {
                await Task.Delay(500, cancellationToken); // dead, starting, or busy
                continue;
            }
            else
            {
                Assert.Fail($"{host.Name} answered {(int)status}: {text}");
            }

            return;
        }
    }

    private static (string Path, JsonObject? Body) Applied(JsonObject next) =>
        ("/api/configuration/apply", new JsonObject { ["files"] = new JsonObject { ["esb.json"] = next.ToJsonString() } });

    private async Task<long?> NewestAsync(FarmHost host, CancellationToken cancellationToken)
    {
        var (status, text) = await TryAsync(host, HttpMethod.Get, "/api/configuration/versions", body: null, cancellationToken);
        return status == HttpStatusCode.OK ? JsonNode.Parse(text)!["running"]?.GetValue<long>() : null;
    }

    private async Task<(HttpStatusCode Status, string Text)> TryAsync(
        FarmHost host,
        HttpMethod method,
        string path,
        JsonObject? body,
        CancellationToken cancellationToken
    )
    {
        try
        {
            var key = await File.ReadAllTextAsync(Path.Combine(host.Folder, "esb-data", "management.key"), cancellationToken);
            using var request = new HttpRequestMessage(method, new Uri(host.Process.Management, path));
            if (body is not null)
                request.Content = new StringContent(body.ToJsonString(), new MediaTypeHeaderValue("application/json"));
            request.Headers.Authorization = new AuthenticationHeaderValue("Bearer", key.Trim());
            using var response = await _client.SendAsync(request, cancellationToken);
            return (response.StatusCode, await response.Content.ReadAsStringAsync(cancellationToken));
        }
        catch (Exception ex)
            when (ex is HttpRequestException or IOException or InvalidOperationException or JsonException
                || (ex is TaskCanceledException && !cancellationToken.IsCancellationRequested)
            )
        {
            return (0, ex.Message);
        }
    }
}
