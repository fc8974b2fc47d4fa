using System.Globalization;
using System.Net.Http.Headers;
using System.Text;
using System.Text.Json;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Endpoints.Http.Sending;

namespace Esb.Endpoints.Http.Credentials.OAuth;

/// <summary>Requests access tokens with client credentials (RFC 6749, section 4.4). Thread-safe.</summary>
internal sealed class TokenClient(string endpoint, OAuthTargetConfig config, HttpMessageInvoker client, TimeSpan timeout, TimeProvider time)
    : IDisposable
{
    private const int LargestAnswerBytes = 64 * 1024;
    private const int LongestReason = 100;

    private readonly Uri _url = new(config.TokenUrl);
    private readonly AuthenticationHeaderValue _authorization = new(
        "Basic",
        Convert.ToBase64String(
            Encoding.ASCII.GetBytes($"{Uri.EscapeDataString(config.ClientId)}:{Uri.EscapeDataString(config.ClientSecret)}")
        )
    ); // section 2.3.1

    /// <summary>Requests a token.</summary>
    /// <exception cref="EndpointException"><c>ESB-HTTP-TOKEN</c>: the server refuses, or its answer has no usable token; the codes of
    /// <see cref="HttpFailures"/>: it cannot be reached.</exception>
    public async Task<AccessToken> RequestAsync(CancellationToken cancellationToken)
    {
        using var limit = new CancellationTokenSource(timeout, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(limit.Token, cancellationToken);
        try
        {
            using var request = Compose();
            using var response = await client.SendAsync(request, either.Token);
            return TokenOf(response, await ReadAsync(response, either.Token));
        }
        catch (Exception ex) when (HttpFailures.Of(endpoint, _url, ex, cancellationToken) is { } failure)
        {
            throw Failure("the authorization server cannot be reached", failure.Detail ?? failure.Message, failure);
        }
    }

    public void Dispose() => client.Dispose();

    private HttpRequestMessage Compose()
    {
        var form = new List<KeyValuePair<string, string>> { new("grant_type", "client_credentials") };
        if (config.Scopes.Count > 0)
            form.Add(new("scope", string.Join(' ', config.Scopes)));
        var request = new HttpRequestMessage(HttpMethod.Post, _url) { Content = new FormUrlEncodedContent(form) };
        request.Headers.Authorization = _authorization;
        request.Headers.Accept.ParseAdd("application/json");
        return request;
    }

    private static async Task<byte[]> ReadAsync(HttpResponseMessage response, CancellationToken cancellationToken)
    {
        await using var body = await response.Content.ReadAsStreamAsync(cancellationToken);
        var buffer = new byte[LargestAnswerBytes];
        return buffer[..await body.ReadAtLeastAsync(buffer, buffer.Length, throwOnEndOfStream: false, cancellationToken)];
    }

    private AccessToken TokenOf(HttpResponseMessage response, byte[] body)
    {
        var status = ((int)response.StatusCode).ToString(CultureInfo.InvariantCulture);
        try
        {
            using var json = JsonDocument.Parse(body);
            if (!response.IsSuccessStatusCode)
                throw Refused(status, json.RootElement);
            return TokenOf(json.RootElement)
                ?? throw Failure("the answer of the authorization server has no bearer token", $"status {status}");
        }
        catch (JsonException ex)
        {
            throw Failure("the authorization server does not answer with JSON", $"status {status}", ex);
        }
    }

    private AccessToken? TokenOf(JsonElement answer)
    {
        if (TextOf(answer, "access_token") is not { } token || !HeaderRules.IsValue(token))
            return null;
        if (TextOf(answer, "token_type") is { } type && !type.Equals("bearer", StringComparison.OrdinalIgnoreCase))
            return null;
        return AccessToken.Received(token, LifeOf(answer), time.GetUtcNow());
    }

    // Some servers write the number as a text.
    private static TimeSpan LifeOf(JsonElement answer)
    {
        if (!answer.TryGetProperty("expires_in", out var life))
            return AccessToken.AssumedLife;
        var isNumber = double.TryParse(life.ToString(), NumberStyles.Float, CultureInfo.InvariantCulture, out var seconds);
        return isNumber && seconds is >= 1 and < 1e9 ? TimeSpan.FromSeconds(seconds) : AccessToken.AssumedLife;
    }

    // "error" is one of the server's own words (section 5.2), "error_description" a text that may hold anything.
    private EndpointException Refused(string status, JsonElement answer) =>
        Failure(
            "the authorization server refuses a token",
            $"status {status}, {SafeText.Of(TextOf(answer, "error") ?? "without a reason", LongestReason)}"
        );

    // Every other message would fail as well: the endpoint pauses, and probes until the credential is corrected.
    private EndpointException Failure(string fault, string detail, Exception? cause = null) =>
        new(endpoint, "ESB-HTTP-TOKEN", $"The endpoint '{endpoint}' has no access token: {fault}.", isTransient: true, cause)
        {
            IsOutage = true,
            IsUnsent = true,
            Detail = $"{ConnectionTrouble.PlaceOf(_url)}: {detail}.",
        };

    private static string? TextOf(JsonElement answer, string name) =>
        answer.ValueKind == JsonValueKind.Object && answer.TryGetProperty(name, out var value) && value.ValueKind == JsonValueKind.String
            ? value.GetString()
            : null;
}
