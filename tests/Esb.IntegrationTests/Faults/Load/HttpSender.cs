using System.Collections.Concurrent;
using System.Net;
using System.Net.Http.Headers;
using System.Net.Sockets;
using Esb.IntegrationTests.Faults.Ledgers;

namespace Esb.IntegrationTests.Faults.Load;

/// <summary>Sends one message over HTTP and says what is known of it then. Thread-safe.</summary>
internal sealed class HttpSender : IDisposable
{
    // Longer than the bus itself repeats a publish of unknown outcome.
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    private readonly HttpClient _client = HostCalls.Client(Patience);
    private readonly ConcurrentDictionary<string, int> _codes = new();

    /// <summary>The codes of problems that were answered, and how often each came.</summary>
    public IReadOnlyDictionary<string, int> Codes => _codes;

    public void Dispose() => _client.Dispose();

    public async Task<(SendOutcome Outcome, Guid? MessageId)> SendAsync(
        Uri url,
        SentMessage message,
        string body,
        CancellationToken cancellationToken,
        string? idempotencyKey = null
    )
    {
        using var request = new HttpRequestMessage(HttpMethod.Post, url)
        {
            Content = new StringContent(body, new MediaTypeHeaderValue("text/plain")),
        };
        request.Headers.Add(FaultHeaders.Id, message.Id);
        request.Headers.Add(FaultHeaders.Key, message.Key);
        if (idempotencyKey is not null)
            request.Headers.Add("Idempotency-Key", idempotencyKey);
        try
        {
            using var response = await _client.SendAsync(request, cancellationToken);
            return await ReadAsync(response, cancellationToken);
        }
        catch (HttpRequestException ex) when (ex.InnerException is SocketException { SocketErrorCode: SocketError.ConnectionRefused })
        {
            return (SendOutcome.Refused, null);
        }
        catch (Exception ex)
            when (ex is HttpRequestException or SocketException or IOException
                || (ex is TaskCanceledException && !cancellationToken.IsCancellationRequested)
            )
        {
            // The host died, as a connection was opened (SocketException) or later, or took too long.
            return (SendOutcome.Unknown, null);
        }
    }

    // Only an answer that says no for certain is a refusal.
    private async Task<(SendOutcome Outcome, Guid? MessageId)> ReadAsync(HttpResponseMessage response, CancellationToken cancellationToken)
    {
        if (response.StatusCode is HttpStatusCode.Accepted or HttpStatusCode.OK)
            return (SendOutcome.Confirmed, Guid.Parse(response.Headers.GetValues("Esb-Message-Id").Single()));
        var text = await response.Content.ReadAsStringAsync(cancellationToken);
        var saysUnknown =
            text.Contains("ESB-HTTP-UNKNOWN", StringComparison.Ordinal) || text.Contains("Nobody can tell", StringComparison.Ordinal);
        var isRefusal =
            response.StatusCode
            is HttpStatusCode.ServiceUnavailable
                or HttpStatusCode.TooManyRequests
                or HttpStatusCode.Conflict
                or HttpStatusCode.UnprocessableContent;
        var code = HostCalls.CodeOf(text);
        if (code is not null)
            _codes.AddOrUpdate(code, 1, (_, count) => count + 1);
        return (isRefusal && !saysUnknown && code is not null ? SendOutcome.Refused : SendOutcome.Unknown, null);
    }
}
