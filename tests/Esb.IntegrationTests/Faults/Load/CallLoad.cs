using System.Collections.Concurrent;
using System.Net;
using System.Net.Http.Headers;
using System.Net.Sockets;

namespace Esb.IntegrationTests.Faults.Load;

/// <summary>Callers who wait for each answer and compare it with what they sent, byte for byte.</summary>
internal sealed class CallLoad(IReadOnlyList<CallWay> ways, Func<Random, Uri> host, int seed) : IDisposable
{
    private const int LargestBody = 64 * 1_024;

    // Longer than any host tries to get an answer.
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan PauseAfterFailure = TimeSpan.FromMilliseconds(100);

    private readonly HttpClient _client = HostCalls.Client(Patience);
    private readonly ConcurrentQueue<CallOutcome> _outcomes = new();

    public IReadOnlyList<CallOutcome> Outcomes => [.. _outcomes];

    /// <summary>Calls until something else is done.</summary>
    public Task RunAsync(int callers, Task until, CancellationToken cancellationToken) =>
        Task.WhenAll(Enumerable.Range(0, callers).Select(number => CallAsync(number, until, cancellationToken)));

    public void Dispose() => _client.Dispose();

    private async Task CallAsync(int number, Task until, CancellationToken cancellationToken)
    {
        var random = new Random(seed + number);
        for (var call = 0; !until.IsCompleted; call++)
        {
            var way = ways[random.Next(ways.Count)];
            var body = FaultBody.Make($"{number}-{call}", random.Next(200, random.Next(200, LargestBody)), random);
            var (called, begun) = (host(random), TimeProvider.System.GetUtcNow());
            var (result, detail) = await CallAsync(new Uri(called, way.Path), way, body, cancellationToken);
            _outcomes.Enqueue(new CallOutcome(called, way.Path, result, begun, TimeProvider.System.GetUtcNow(), detail));
            if (result != CallResult.Right)
                await Task.Delay(PauseAfterFailure * (0.5 + random.NextDouble()), cancellationToken);
        }
    }

    private async Task<(CallResult Result, string? Detail)> CallAsync(
        Uri url,
        CallWay way,
        string body,
        CancellationToken cancellationToken
    )
    {
        try
        {
            using var response = await _client.PostAsync(
                url,
                new StringContent(body, new MediaTypeHeaderValue("text/plain")),
                cancellationToken
            );
            var text = await response.Content.ReadAsStringAsync(cancellationToken);
            return response.StatusCode switch
            {
                HttpStatusCode.OK when way.Read(text) == body => (CallResult.Right, null),
                HttpStatusCode.OK => (CallResult.Wrong, $"{body.Length} bytes came back as {text.Length}, or as others"),
                HttpStatusCode.BadGateway
                or HttpStatusCode.ServiceUnavailable
                or HttpStatusCode.GatewayTimeout when HostCalls.CodeOf(text)?.StartsWith("ESB-", StringComparison.Ordinal) == true => (
                    CallResult.Refused,
                    null
                ),
                var status => (CallResult.Wrong, $"{(int)status}: {text}"),
            };
        }
        catch (TaskCanceledException ex) when (ex.InnerException is TimeoutException)
        {
            return (CallResult.Wrong, $"no answer within {Patience.TotalSeconds} s");
        }
        catch (Exception ex) when (ex is HttpRequestException or SocketException or IOException)
        {
            return (CallResult.Broken, null); // the host died
        }
    }
}
