using System.Text.Json;

namespace Esb.IntegrationTests.Faults.Load;

/// <summary>What everybody needs who calls hosts that may die.</summary>
internal static class HostCalls
{
    /// <summary>A client that finds out soon that a host is gone.</summary>
    /// <param name="patience">How long it waits for an answer.</param>
    public static HttpClient Client(TimeSpan patience) =>
        new(new SocketsHttpHandler { PooledConnectionIdleTimeout = TimeSpan.FromSeconds(5), ConnectTimeout = TimeSpan.FromSeconds(5) })
        {
            Timeout = patience,
        };

    /// <summary>The code of a problem; null where it is none as the bus tells them.</summary>
    public static string? CodeOf(string answer)
    {
        try
        {
            return
                JsonDocument.Parse(answer).RootElement is { ValueKind: JsonValueKind.Object } problem
                && problem.TryGetProperty("code", out var code)
                ? code.GetString()
                : null;
        }
        catch (JsonException)
        {
            return null;
        }
    }
}
