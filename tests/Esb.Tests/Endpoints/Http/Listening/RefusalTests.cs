using System.Collections.Concurrent;
using System.Diagnostics.Metrics;
using System.Text.Json;

namespace Esb.Tests.Endpoints.Http.Listening;

/// <summary>Requests that the server's own parser refuses, before anything of ours sees them.</summary>
public sealed class RefusalTests
{
    private const string Orders = """ "orders": { "type": "http-inbound", "path": "/orders", "publish": "orders.new" } """;
    private const string Good = "POST /orders HTTP/1.1\r\nHost: bus\r\nContent-Length: 1\r\n\r\nx";

    private HttpBus _bus = null!;

    [SetUp]
    public async Task StartBus() => _bus = await new HttpBus().StartAsync(Orders);

    [TearDown]
    public async Task StopBus() => await _bus.DisposeAsync();

    private static IEnumerable<TestCaseData> Refused()
    {
        yield return Case("garbage", "GET\0\0\r\n\r\n", 400, "ESB-HTTP-REQUEST");
        yield return Case("no version", "GET /orders\r\n\r\n", 400, "ESB-HTTP-REQUEST");
        yield return Case("NUL in the path", "POST /orders%00 HTTP/1.1\r\nHost: bus\r\n\r\n", 400, "ESB-HTTP-REQUEST");
        yield return Case("no host", "POST /orders HTTP/1.1\r\nContent-Length: 0\r\n\r\n", 400, "ESB-HTTP-REQUEST");
        yield return Case("two hosts", "POST /orders HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400, "ESB-HTTP-REQUEST");
        yield return Case("negative length", "POST /orders HTTP/1.1\r\nHost: bus\r\nContent-Length: -1\r\n\r\n", 400, "ESB-HTTP-REQUEST");
        yield return Case(
            "two lengths",
            "POST /orders HTTP/1.1\r\nHost: bus\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
            400,
            "ESB-HTTP-REQUEST"
        );
        yield return Case("no length", "POST /orders HTTP/1.1\r\nHost: bus\r\nTransfer-Encoding: gzip\r\n\r\n", 400, "ESB-HTTP-REQUEST");
        yield return Case("other version", "POST /orders HTTP/3.7\r\nHost: bus\r\n\r\n", 505, "ESB-HTTP-VERSION");
        yield return Case("target of a proxy", "POST elsewhere:80 HTTP/1.1\r\nHost: bus\r\n\r\n", 405, "ESB-HTTP-METHOD");

        static TestCaseData Case(string name, string request, int status, string code) =>
            new TestCaseData(request, status, code).SetArgDisplayNames(name);
    }

    [TestCaseSource(nameof(Refused)), CancelAfter(30_000)]
    public Task Request_that_the_server_refuses_is_told_why_counted_and_its_connection_closed(
        string request,
        int status,
        string code,
        CancellationToken cancellationToken
    ) => AssertRefusedAsync(request, status, code, cancellationToken);

    [TestCase("X-A: one\r\n two"), TestCase("X-A: one\0two"), TestCase("X-A: one\rtwo"), Property("Case", "HTP-09"), CancelAfter(30_000)]
    public Task Header_that_breaks_out_of_its_line_is_refused_likewise(string header, CancellationToken cancellationToken) =>
        AssertRefusedAsync($"POST /orders HTTP/1.1\r\nHost: bus\r\n{header}\r\n\r\n", 400, "ESB-HTTP-REQUEST", cancellationToken);

    [TestCase("X-\u00e4: one"), TestCase("X A: one"), TestCase(": one"), Property("Case", "HDR-05"), CancelAfter(30_000)]
    public Task Header_with_a_name_that_is_none_is_refused_likewise(string header, CancellationToken cancellationToken) =>
        AssertRefusedAsync($"POST /orders HTTP/1.1\r\nHost: bus\r\n{header}\r\n\r\n", 400, "ESB-HTTP-REQUEST", cancellationToken);

    [Test, Property("Case", "HTP-08"), CancelAfter(30_000)]
    public async Task Headers_that_are_too_long_or_too_many_are_refused_likewise(CancellationToken cancellationToken)
    {
        await AssertRefusedAsync(
            $"POST /orders HTTP/1.1\r\nHost: bus\r\nX-A: {new string('x', 64 * 1024)}\r\n\r\n",
            431,
            "ESB-HTTP-HEADERS",
            cancellationToken
        );
        await AssertRefusedAsync(
            $"POST /orders HTTP/1.1\r\nHost: bus\r\n{string.Concat(Enumerable.Range(0, 500).Select(number => $"X-{number}: x\r\n"))}\r\n",
            431,
            "ESB-HTTP-HEADERS",
            cancellationToken
        );
    }

    [Test, Property("Case", "HTP-24"), CancelAfter(30_000)]
    public Task Target_that_is_too_long_is_refused_likewise(CancellationToken cancellationToken) =>
        AssertRefusedAsync(
            $"POST /orders?{new string('x', 9 * 1024)} HTTP/1.1\r\nHost: bus\r\n\r\n",
            414,
            "ESB-HTTP-URI",
            cancellationToken
        );

    [Test, CancelAfter(30_000)]
    public async Task Answers_before_a_refusal_stay_as_they_are(CancellationToken cancellationToken)
    {
        var answers = (await RawConnection.AskAsync(_bus.Port, $"{Good}{Good}nonsense\r\n\r\n", cancellationToken)).Split("HTTP/1.1 ");

        Assert.That(answers, Has.Length.EqualTo(4));
        Assert.That(answers[1], Does.StartWith("202 ").And.EndWith("}"));
        Assert.That(answers[2], Does.StartWith("202 ").And.EndWith("}"));
        AssertProblem($"HTTP/1.1 {answers[3]}", 400, "ESB-HTTP-REQUEST");
        Assert.That(_bus.Published, Has.Count.EqualTo(2));
    }

    [Test, CancelAfter(30_000)]
    public async Task Method_that_a_target_needs_is_told(CancellationToken cancellationToken)
    {
        var answer = await RawConnection.AskAsync(_bus.Port, "POST elsewhere:80 HTTP/1.1\r\nHost: bus\r\n\r\n", cancellationToken);

        Assert.That(answer, Does.Contain("\r\nAllow: CONNECT\r\n"));
    }

    [Test, CancelAfter(30_000)]
    public async Task Head_request_is_refused_without_a_body(CancellationToken cancellationToken)
    {
        var answer = await RawConnection.AskAsync(_bus.Port, "HEAD /orders HTTP/1.1\r\n\r\n", cancellationToken);

        Assert.That(answer, Does.StartWith("HTTP/1.1 400 ").And.EndWith("\r\n\r\n"));
    }

    [Test, CancelAfter(20_000)]
    public async Task Caller_that_stops_within_its_headers_is_told_so(CancellationToken cancellationToken)
    {
        using var refused = new Refusals();

        var answer = await RawConnection.AskAsync(_bus.Port, "POST /orders HTTP/1.1\r\nHost: bus\r\n", cancellationToken);

        AssertProblem(answer, 408, "ESB-HTTP-SLOW");
        Assert.That(refused.Codes, Is.EqualTo(new[] { "ESB-HTTP-SLOW" }));
    }

    [Test, Property("Case", "HTP-06"), CancelAfter(30_000)]
    public async Task Request_for_nothing_or_with_two_lengths_is_counted_once(CancellationToken cancellationToken)
    {
        using var refused = new Refusals();

        var nowhere = await RawConnection.AskAsync(
            _bus.Port,
            "POST /nowhere HTTP/1.1\r\nHost: bus\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
            cancellationToken
        );
        var twoLengths = await RawConnection.AskAsync(
            _bus.Port,
            "POST /orders HTTP/1.1\r\nHost: bus\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            cancellationToken
        );
        var badChunk = await RawConnection.AskAsync(
            _bus.Port,
            "POST /orders HTTP/1.1\r\nHost: bus\r\nTransfer-Encoding: chunked\r\n\r\n1;a\nb\r\nx\r\n0\r\n\r\n",
            cancellationToken
        );

        Assert.That(nowhere, Does.StartWith("HTTP/1.1 404 "));
        AssertProblem(twoLengths, 400, "ESB-HTTP-LENGTH");
        AssertProblem(badChunk, 400, "ESB-HTTP-BODY"); // the endpoint refused it, and counts it
        Assert.That(refused.Codes, Is.EqualTo(new[] { "ESB-HTTP-NOROUTE", "ESB-HTTP-LENGTH" }));
    }

    private async Task AssertRefusedAsync(string request, int status, string code, CancellationToken cancellationToken)
    {
        using var refused = new Refusals();

        var answer = await RawConnection.AskAsync(_bus.Port, request, cancellationToken);

        AssertProblem(answer, status, code);
        Assert.That(refused.Codes, Is.EqualTo(new[] { code }));
        Assert.That(_bus.Published, Is.Empty);
    }

    private static void AssertProblem(string answer, int status, string code)
    {
        Assert.That(
            answer,
            Does.StartWith($"HTTP/1.1 {status} ")
                .And.Contain("\r\nConnection: close\r\n")
                .And.Contain("\r\nContent-Type: application/problem+json\r\n")
        );
        var body = answer[(answer.IndexOf("\r\n\r\n", StringComparison.Ordinal) + 4)..];
        Assert.That(answer, Does.Contain($"\r\nContent-Length: {body.Length}\r\n"));
        var problem = JsonDocument.Parse(body).RootElement;
        Assert.Multiple(() =>
        {
            Assert.That(problem.GetProperty("status").GetInt32(), Is.EqualTo(status));
            Assert.That(problem.GetProperty("code").GetString(), Is.EqualTo(code));
            Assert.That(problem.GetProperty("traceId").GetString(), Is.Not.Empty);
            Assert.That(problem.GetProperty("detail").GetString(), Is.Not.Empty);
        });
    }

    /// <summary>What the counter of refused requests counts, of the one listener of this fixture.</summary>
    private sealed class Refusals : IDisposable
    {
        private readonly ConcurrentQueue<string> _codes = new();
        private readonly MeterListener _meters = new();

        public Refusals()
        {
            _meters.InstrumentPublished = (instrument, listener) =>
            {
                if (instrument.Name == "esb.http.request.refused")
                    listener.EnableMeasurementEvents(instrument);
            };
            _meters.SetMeasurementEventCallback<long>(
                (_, _, tags, _) => _codes.Enqueue((string)tags.ToArray().Single(tag => tag.Key == "error.type").Value!)
            );
            _meters.Start();
        }

        public IEnumerable<string> Codes => _codes;

        public void Dispose() => _meters.Dispose();
    }
}
