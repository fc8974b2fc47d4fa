using System.Net;
using Esb.Core.Topics;
using Esb.Tests.Fakes;
using NSubstitute;
using static Esb.Tests.Endpoints.Http.Receiving.HttpInboundTests;

namespace Esb.Tests.Endpoints.Http.Receiving;

/// <summary>Callers that find the host with too much to do.</summary>
[CancelAfter(30_000)]
public sealed class OverloadTests
{
    private const string Slow = """ "in": { "type": "http-inbound", "path": "/in", "process": "slow" } """;
    private const string Orders = """ "orders": { "type": "http-inbound", "path": "/orders", "publish": "orders.new" } """;
    private const string Marks = """ , "limits": { "inFlightHigh": 3, "inFlightLow": 1 } """;

    private TaskCompletionSource _leave = null!;
    private HttpBus _bus = null!;

    [SetUp]
    public void CreateBus()
    {
        var leave = _leave = new TaskCompletionSource();
        _bus = new HttpBus().With("slow", async (_, token) => await leave.Task.WaitAsync(token));
    }

    [TearDown]
    public async Task StopBus() => await _bus.DisposeAsync();

    [Test, Property("Case", "HTP-26")]
    public async Task Caller_is_turned_away_before_its_body_is_read_and_those_inside_finish(CancellationToken cancellationToken)
    {
        await _bus.StartAsync(Slow, Marks);
        var inside = Enumerable.Range(0, 3).Select(_ => _bus.PostAsync("/in", "<order/>", cancellationToken: cancellationToken)).ToList();
        await Eventually.HoldsAsync(() => _bus.Status[0].InFlight == 3, "three calls", cancellationToken);

        using var connection = await RawConnection.OpenAsync(_bus.Port, cancellationToken);
        await connection.WriteAsync("POST /in HTTP/1.1\r\nHost: bus\r\nContent-Length: 1000000\r\n\r\n", cancellationToken);
        var refused = await connection.ReadUntilAsync("}", cancellationToken);
        _leave.SetResult();
        var answers = await Task.WhenAll(inside);

        Assert.That(refused, Does.StartWith("HTTP/1.1 503 ").And.Contain("ESB-OVERLOAD").And.Contain("Retry-After: 1\r\n"));
        Assert.That(answers.Select(answer => answer.StatusCode), Is.All.EqualTo(HttpStatusCode.Accepted));
        await Eventually.BecomesAsync(IsLetInAsync, cancellationToken); // places are left after the answers were sent

        async Task<bool> IsLetInAsync()
        {
            using var later = await _bus.PostAsync("/in", "<order/>", cancellationToken: cancellationToken);
            return later.StatusCode == HttpStatusCode.Accepted;
        }
    }

    [Test]
    public async Task Marks_are_those_of_the_host_and_not_of_one_endpoint(CancellationToken cancellationToken)
    {
        await _bus.StartAsync($"{Slow}, {Orders}", Marks);
        var inside = Enumerable.Range(0, 3).Select(_ => _bus.PostAsync("/in", "<order/>", cancellationToken: cancellationToken)).ToList();
        await Eventually.HoldsAsync(() => _bus.Status[0].InFlight == 3, "three calls", cancellationToken);

        using var refused = await _bus.PostAsync("/orders", "<order/>", cancellationToken: cancellationToken);
        _leave.SetResult();
        await Task.WhenAll(inside);

        await AssertProblemAsync(refused, HttpStatusCode.ServiceUnavailable, "ESB-OVERLOAD", cancellationToken);
    }

    [Test, Property("Case", "HTP-26")]
    public async Task Caller_whose_message_could_not_be_published_is_turned_away_and_others_are_not(CancellationToken cancellationToken)
    {
        _leave.SetResult();
        _bus.Transport.Status.Returns(new TransportStatus(IsReady: false, "low on memory"));
        await _bus.StartAsync($"{Slow}, {Orders}");

        using var refused = await _bus.PostAsync("/orders", "<order/>", cancellationToken: cancellationToken);
        using var answered = await _bus.PostAsync("/in", "<order/>", cancellationToken: cancellationToken);

        await AssertProblemAsync(refused, HttpStatusCode.ServiceUnavailable, "ESB-TOPIC-UNAVAILABLE", cancellationToken);
        Assert.That(refused.Headers.RetryAfter!.Delta, Is.GreaterThan(TimeSpan.Zero));
        Assert.That(answered.StatusCode, Is.EqualTo(HttpStatusCode.Accepted));
        Assert.That(_bus.Published, Is.Empty);
    }

    [Test]
    public async Task Relay_does_not_count(CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync();
        await _bus.StartAsync(
            $$"""{{Slow}}, "relay": { "type": "http-inbound", "path": "/relay", "relay": "out" }, "out": { "type": "http-outbound", "url": "{{backend.Url}}" } """,
            Marks
        );
        var inside = Enumerable.Range(0, 3).Select(_ => _bus.PostAsync("/in", "<order/>", cancellationToken: cancellationToken)).ToList();
        await Eventually.HoldsAsync(() => _bus.Status[0].InFlight == 3, "three calls", cancellationToken);

        using var relayed = await _bus.PostAsync("/relay", "<order/>", cancellationToken: cancellationToken);
        _leave.SetResult();
        await Task.WhenAll(inside);

        Assert.That(relayed.StatusCode, Is.EqualTo(HttpStatusCode.OK));
    }

    [TestCase("""{ "inFlightLow": 200 }""", "limits.inFlightLow", "200", "less than inFlightHigh, which is 200")]
    [TestCase("""{ "inFlightHigh": 50 }""", "limits.inFlightLow", "100", "less than inFlightHigh, which is 50")]
    [TestCase("""{ "memoryLow": 90 }""", "limits.memoryLow", "90", "less than memoryHigh, which is 80")]
    [Property("Case", "CFG-20")]
    public void Low_mark_that_is_not_the_lower_one_is_refused(string limits, string path, string value, string expected)
    {
        _bus.Read(Orders, $$""" , "limits": {{limits}} """);

        var error = _bus.Errors.All.Single();
        Assert.That((error.Code, error.Path, error.Value), Is.EqualTo(("ESB-CFG-WATERMARK", path, value)));
        Assert.That(error.Expected, Does.Contain(expected));
    }
}
