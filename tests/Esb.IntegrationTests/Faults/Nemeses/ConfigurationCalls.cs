using System.Net;
using System.Net.Http.Headers;
using System.Net.Sockets;
using System.Text.Json;
using System.Text.Json.Nodes;
using Esb.IntegrationTests.Faults.Farm;

namespace Esb.IntegrationTests.Faults.Nemeses;

/// <summary>Calls of an operator to the management API of hosts that may be dead, starting or busy.</summary>
internal sealed class ConfigurationCalls : IDisposable
{
    private readonly HttpClient _client = new() { Timeout = TimeSpan.FromSeconds(150) };

    /// <summary>Posts once; status 0 if no answer came, so that it may have been carried out or not.</summary>
    public async Task<(HttpStatusCode Status, string Text)> PostAsync(
        FarmHost host,
        string path,
        JsonObject? body,
        CancellationToken cancellationToken
    )
    {
        try
        {
            var key = await File.ReadAllTextAsync(Path.Combine(host.Folder, "esb-data", "management.key"), cancellationToken);
            using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(host.Process.Management, path));
            if (body is not null)
                request.Content = new StringContent(body.ToJsonString(), new MediaTypeHeaderValue("application/json"));
            request.Headers.Authorization = new AuthenticationHeaderValue("Bearer", key.Trim());
            using var response = await _client.SendAsync(request, cancellationToken);
            return (response.StatusCode, await response.Content.ReadAsStringAsync(cancellationToken));
        }
        catch (Exception ex)
            when (ex is HttpRequestException or SocketException or IOException or InvalidOperationException or JsonException
                || (ex is TaskCanceledException && !cancellationToken.IsCancellationRequested)
            )
        {
            return (0, ex.Message);
        }
    }

    /// <summary>Whether the host, or the farm, may do it a moment later: dead, starting, or busy.</summary>
    public static bool IsForLater(HttpStatusCode status) => status is 0 or HttpStatusCode.Conflict or HttpStatusCode.ServiceUnavailable;

    /// <summary>Whether it was not possible because a host had just died or come.</summary>
    public static bool Differs(string text) => text.Contains("ESB-CONFIG-DIFFERS", StringComparison.Ordinal);

    public void Dispose() => _client.Dispose();
}
