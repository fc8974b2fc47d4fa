using System.Collections.Concurrent;
using System.Net.Http.Headers;
using System.Net.Sockets;
using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Load;
using Esb.IntegrationTests.Faults.Results;

namespace Esb.IntegrationTests.Faults.Soak;

/// <summary>Callers at a steady rate who wait for an answer that is what they sent. Each fifth call goes to the back end itself: what
/// becomes slower there as well is the machine's doing.</summary>
internal sealed class SoakCalls(IReadOnlyList<Uri> throughHost, Uri direct) : IDisposable
{
    private const int Callers = 8;
    private const int Slices = 9;

    private readonly HttpClient _client = HostCalls.Client(TimeSpan.FromSeconds(30));
    private readonly ConcurrentQueue<(TimeSpan At, TimeSpan Took, bool IsDirect)> _calls = new();
    private readonly ConcurrentQueue<string> _wrong = new();
    private readonly long _started = TimeProvider.System.GetTimestamp();

    public int Count => _calls.Count;

    /// <summary>Answers that were no answers, or others than what was sent.</summary>
    public IReadOnlyCollection<string> Wrong => _wrong;

    /// <summary>Calls until something else is done.</summary>
    /// <param name="rate">Calls per second, over all callers.</param>
    /// <param name="until">What is waited for.</param>
    /// <param name="cancellationToken">Ends it sooner.</param>
    public Task RunAsync(int rate, Task until, CancellationToken cancellationToken) =>
        Task.WhenAll(Enumerable.Range(0, Callers).Select(number => CallAsync(number, rate, until, cancellationToken)));

    /// <summary>The 99th percentile of the calls of one kind: when they began, and in the end. Each is the median of three slices of
    /// the time.</summary>
    public (TimeSpan First, TimeSpan Last) P99(bool isDirect, TimeSpan warmUp)
    {
        var calls = _calls.Where(call => call.IsDirect == isDirect && call.At >= warmUp).OrderBy(call => call.At).ToList();
        var slices = calls.Chunk((calls.Count / Slices) + 1).Select(slice => Percentile(slice.Select(call => call.Took))).ToList();
        return (Medians.Of(slices.Take(3)), Medians.Of(slices.TakeLast(3)));
    }

    public void Dispose() => _client.Dispose();

    private static TimeSpan Percentile(IEnumerable<TimeSpan> times)
    {
        var sorted = times.Order().ToList();
        return sorted[(int)Math.Ceiling(sorted.Count * 0.99) - 1];
    }

    private async Task CallAsync(int number, int rate, Task until, CancellationToken cancellationToken)
    {
        var random = new Random(FaultBench.Seed + number);
        var interval = TimeSpan.FromSeconds((double)Callers / rate);
        for (var call = 0; !until.IsCompleted; call++)
        {
            var isDirect = call % 5 == 0;
            var begun = TimeProvider.System.GetTimestamp();
            await CallAsync(
                isDirect ? direct : throughHost[call % throughHost.Count],
                FaultBody.Make($"{number}-{call}", random.Next(200, 4_096), random),
                cancellationToken
            );
            var took = TimeProvider.System.GetElapsedTime(begun);
            _calls.Enqueue((TimeProvider.System.GetElapsedTime(_started), took, isDirect));
            if (interval > took)
                await Task.Delay(interval - took, cancellationToken);
        }
    }

    private async Task CallAsync(Uri url, string body, CancellationToken cancellationToken)
    {
        try
        {
            using var content = new StringContent(body, new MediaTypeHeaderValue("text/plain"));
            using var response = await _client.PostAsync(url, content, cancellationToken);
            var answer = await response.Content.ReadAsStringAsync(cancellationToken);
            if (!response.IsSuccessStatusCode || answer != body)
                _wrong.Enqueue($"{url.AbsolutePath}: {(int)response.StatusCode}, {answer.Length} of {body.Length} characters");
        }
        catch (Exception ex)
            when (ex is HttpRequestException or SocketException or IOException or TaskCanceledException { InnerException: TimeoutException }
            )
        {
            _wrong.Enqueue($"{url.AbsolutePath}: {ex.Message}");
        }
    }
}
