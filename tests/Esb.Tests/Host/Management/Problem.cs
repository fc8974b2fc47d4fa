using System.Net.Http.Json;
using System.Text.Json.Nodes;

namespace Esb.Tests.Host.Management;

/// <summary>Reads the problem details (RFC 9457) of an answer that refuses.</summary>
internal static class Problem
{
    public static async Task<string?> ReadCodeAsync(HttpResponseMessage response, CancellationToken cancellationToken)
    {
        Assert.That(response.Content.Headers.ContentType?.MediaType, Is.EqualTo("application/problem+json"));
        return (string?)(await response.Content.ReadFromJsonAsync<JsonObject>(cancellationToken))!["code"];
    }
}
