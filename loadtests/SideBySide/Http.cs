using System.Net;
using System.Net.Http.Headers;
using System.Net.Http.Json;
using System.Net.Sockets;
using System.Text.Json;

namespace SideBySide;

/// <summary>Single requests: to see that a server is there, and to see what it answers.</summary>
internal static class Http
{
    private static readonly HttpClient Client = new(new SocketsHttpHandler { UseProxy = false }) { Timeout = TimeSpan.FromSeconds(30) };

    /// <summary>Whether a GET is answered with success.</summary>
    public static async Task<bool> AnswersAsync(string url, CancellationToken cancellationToken)
    {
        try
        {
            using var response = await Client.GetAsync(url, cancellationToken);
            return response.IsSuccessStatusCode;
        }
        catch (HttpRequestException)
        {
            return false; // nobody listens yet
        }
    }

    /// <summary>Asks a management API.</summary>
    public static async Task<JsonElement> GetJsonAsync(string url, string key, CancellationToken cancellationToken)
    {
        using var request = new HttpRequestMessage(HttpMethod.Get, url);
        request.Headers.Authorization = new AuthenticationHeaderValue("Bearer", key);
        using var response = await Client.SendAsync(request, cancellationToken);
        response.EnsureSuccessStatusCode();
        return await response.Content.ReadFromJsonAsync<JsonElement>(cancellationToken);
    }

    /// <summary>Whether anybody takes connections at a loopback port.</summary>
    public static async Task<bool> ListensAsync(int port, CancellationToken cancellationToken)
    {
        using var connection = new TcpClient();
        try
        {
            await connection.ConnectAsync(IPAddress.Loopback, port, cancellationToken);
            return true;
        }
        catch (SocketException)
        {
            return false;
        }
    }

    public static async Task<HttpAnswer> PostAsync(string url, byte[] body, string contentType, CancellationToken cancellationToken)
    {
        using var content = new ByteArrayContent(body);
        content.Headers.ContentType = MediaTypeHeaderValue.Parse(contentType);
        try
        {
            using var response = await Client.PostAsync(url, content, cancellationToken);
            return new HttpAnswer(
                (int)response.StatusCode,
                await response.Content.ReadAsByteArrayAsync(cancellationToken),
                ServedBy(response)
            );
        }
        catch (Exception failure)
            when (failure is HttpRequestException || (failure is TaskCanceledException && !cancellationToken.IsCancellationRequested))
        {
            throw new NotRunException($"{url} does not answer: {failure.Message}", failure);
        }
    }

    private static string? ServedBy(HttpResponseMessage response) =>
        response.Headers.TryGetValues("X-Served-By", out var values) ? string.Concat(values) : null;
}
