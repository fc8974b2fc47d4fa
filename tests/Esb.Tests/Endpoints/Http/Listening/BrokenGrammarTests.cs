namespace Esb.Tests.Endpoints.Http.Listening;

/// <summary>Requests that are not written as HTTP/1.1 asks: one answer, and the connection is closed before what follows can be taken for
/// another request.</summary>
[CancelAfter(30_000)]
public sealed class BrokenGrammarTests
{
    private HttpBus _bus = null!;

    [SetUp]
    public async Task StartBus() =>
        _bus = await new HttpBus().StartAsync(""" "orders": { "type": "http-inbound", "path": "/orders", "publish": "orders.new" } """);

    [TearDown]
    public async Task StopBus() => await _bus.DisposeAsync();

    [Test, Property("Case", "HTP-06")]
    public Task Body_with_two_lengths_is_refused_and_the_connection_closed(CancellationToken cancellationToken) =>
        AssertBreaksTheGrammarAsync("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", cancellationToken);

    [Test, Property("Case", "HTP-07")]
    public Task Chunk_that_hides_a_request_is_refused_and_the_connection_closed(CancellationToken cancellationToken) =>
        AssertBreaksTheGrammarAsync(
            "Transfer-Encoding: chunked\r\n\r\n1;a\nb\r\nx\r\n0\r\n\r\nPOST /orders HTTP/1.1\r\nHost: bus\r\nContent-Length: 1\r\n\r\ny",
            cancellationToken
        );

    [
        TestCase("X-A: one\rtwo"),
        TestCase("X-A: one\0two"),
        TestCase("X-A: one\r\n two"),
        TestCase("Content-Type: text/plain\u0001"),
        Property("Case", "HTP-09")
    ]
    public Task Header_that_breaks_out_of_its_line_is_refused_and_the_connection_closed(
        string header,
        CancellationToken cancellationToken
    ) => AssertBreaksTheGrammarAsync($"Connection: close\r\n{header}\r\nContent-Length: 0\r\n\r\n", cancellationToken);

    [TestCase("X A: one"), TestCase(": one"), TestCase("X-A : one"), TestCase("X-\u00e4: one"), Property("Case", "HDR-05")]
    public Task Header_with_a_name_that_is_none_is_refused_and_the_connection_closed(string header, CancellationToken cancellationToken) =>
        AssertBreaksTheGrammarAsync($"{header}\r\nContent-Length: 0\r\n\r\n", cancellationToken);

    private async Task AssertBreaksTheGrammarAsync(string rest, CancellationToken cancellationToken)
    {
        var answer = await RawConnection.AskAsync(_bus.Port, $"POST /orders HTTP/1.1\r\nHost: bus\r\n{rest}", cancellationToken);

        Assert.That(answer, Does.StartWith("HTTP/1.1 400 "));
        Assert.That(answer.Split("HTTP/1.1 "), Has.Length.EqualTo(2), "one answer, then the end");
        Assert.That(_bus.Published, Is.Empty);
    }
}
