using System.Diagnostics.Metrics;
using System.Net;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using static Esb.Tests.Endpoints.Http.Receiving.HttpInboundTests;

namespace Esb.Tests.Endpoints.Http;

/// <summary>Rows HDR of the catalogue of bad inputs, at the entry and the exit of HTTP.</summary>
public sealed class HeaderTests
{
    private const string Orders = """ "orders": { "type": "http-inbound", "path": "/orders", "publish": "orders.new" } """;
    private const string AllHeaders =
        """ "orders": { "type": "http-inbound", "path": "/orders", "publish": "orders.new", "headers": ["*"] } """;

    private HttpBus _bus = null!;

    [SetUp]
    public void CreateBus() => _bus = new HttpBus();

    [TearDown]
    public async Task StopBus() => await _bus.DisposeAsync();

    [
        TestCase("esb-attempt"),
        TestCase("ESB-Key"),
        TestCase("Esb-Fault"),
        TestCase("X-Death-Count"),
        Property("Case", "HDR-01"),
        CancelAfter(30_000)
    ]
    public async Task Reserved_header_is_dropped_and_counted(string name, CancellationToken cancellationToken)
    {
        var reserved = 0L;
        using var meters = new MeterListener
        {
            InstrumentPublished = (instrument, listener) => listener.EnableMeasurementEvents(instrument),
        };
        meters.SetMeasurementEventCallback<long>(
            (instrument, value, _, _) => reserved += instrument.Name == "esb.header.reserved" ? value : 0
        );
        meters.Start();
        await _bus.StartAsync(AllHeaders);

        await SendAsync(cancellationToken, (name, "9"));

        Assert.That(_bus.Published.Single().Headers[name], Is.Null);
        Assert.That(_bus.Published.Single().Attempt, Is.Zero);
        Assert.That(reserved, Is.EqualTo(1));
    }

    [
        TestCase("MT-Fault-Message"),
        TestCase("mt-host-info"),
        TestCase("MT-Response-Address"),
        Property("Case", "HDR-02"),
        CancelAfter(30_000)
    ]
    public async Task Header_of_the_library_is_dropped(string name, CancellationToken cancellationToken)
    {
        await _bus.StartAsync(AllHeaders);

        await SendAsync(cancellationToken, (name, "rabbitmq://elsewhere/queue"));

        Assert.That(_bus.Published.Single().Headers[name], Is.Null);
    }

    [TestCase("CC"), TestCase("bcc"), Property("Case", "HDR-03"), CancelAfter(30_000)]
    public async Task Header_that_makes_the_broker_copy_a_message_is_dropped(string name, CancellationToken cancellationToken)
    {
        await _bus.StartAsync(AllHeaders);

        await SendAsync(cancellationToken, (name, "other-queue"));

        Assert.That(_bus.Published.Single().Headers[name], Is.Null);
    }

    [
        TestCase("Host"),
        TestCase("Content-Length"),
        TestCase("Transfer-Encoding"),
        TestCase("Connection"),
        Property("Case", "HDR-04"),
        CancelAfter(30_000)
    ]
    public async Task Header_of_a_message_never_says_where_or_how_a_request_is_sent(string name, CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync();
        var endpoint = Outbound(backend, """ "headers": ["*"] """);

        var answer = await endpoint.SendAsync(
            Some.Message("body") with
            {
                Headers = MessageHeaders.From([new(name, "3"), new("url", "http://elsewhere")]),
            },
            cancellationToken
        );

        Assert.That(answer!.Headers[EsbHeaders.Status], Is.EqualTo("200"));
        Assert.That(
            backend.Requests.Single(),
            Does.Contain($"Host: {new Uri(backend.Url).Authority}").And.Contain("Content-Length: 4").And.EndWith("body")
        );
    }

    [Test, Property("Case", "HDR-05"), CancelAfter(30_000)]
    public async Task Header_with_a_name_that_is_too_long_is_dropped(CancellationToken cancellationToken)
    {
        await _bus.StartAsync(Orders);

        await SendAsync(cancellationToken, ($"x-{new string('n', 300)}", "1"), ("x-short", "2"));

        Assert.That(_bus.Published.Single().Headers.Select(header => header.Key), Is.EqualTo(new[] { "x-short" }));
    }

    [
        TestCase("x-priority", "-1"),
        TestCase("x-priority", "99999"),
        TestCase("x-delay", "-5"),
        TestCase("x-delay", "999999999999"),
        TestCase("x-ttl", "-1"),
        TestCase("x-expires", "8d")
    ]
    [Property("Case", "HDR-12"), CancelAfter(10_000)]
    public async Task Header_that_would_mean_a_priority_a_lifetime_or_a_delay_elsewhere_is_data_whatever_its_range(
        string name,
        string value,
        CancellationToken cancellationToken
    )
    {
        await _bus.StartAsync(Orders);

        await SendAsync(cancellationToken, (name, value));

        var published = _bus.Published.Single();
        Assert.That(published.Headers, Is.EqualTo(new[] { KeyValuePair.Create(name, value) }));
        Assert.That((published.Attempt, published.Key), Is.EqualTo((0, (string?)null)));
    }

    [Test, Property("Case", "HDR-14"), CancelAfter(30_000)]
    public async Task Attribute_of_a_structured_event_is_a_part_of_its_body_and_never_a_header(CancellationToken cancellationToken)
    {
        const string Event =
            """{ "specversion": "1.0", "id": "1", "type": "order", "source": "/shop", "esb-key": "k", "esb-attempt": 9, "MT-Fault-Address": "queue:other", "cc": "stolen", "correlationid": "c", "data": {} }""";
        await _bus.StartAsync(AllHeaders);

        using var response = await _bus.PostAsync("/orders", Event, "application/cloudevents+json", cancellationToken);

        var published = _bus.Published.Single();
        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.Accepted));
        Assert.That(published.Body.ReadText(), Is.EqualTo(Event));
        Assert.That((published.Key, published.Attempt, published.CorrelationId), Is.EqualTo(((string?)null, 0, (string?)null)));
        Assert.That(published.Headers.Select(header => header.Key), Has.None.Match("(?i)esb|mt-|^cc$|correlation"));
    }

    [TestCase("one\r\nX-Evil: two"), TestCase("one\ntwo"), TestCase("one\0two"), Property("Case", "HDR-06"), CancelAfter(30_000)]
    public async Task Value_of_more_than_one_line_is_not_sent(string value, CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync();
        var endpoint = Outbound(backend);

        var sending = async () =>
            await endpoint.SendAsync(Some.Message() with { Headers = MessageHeaders.Empty.With("x-a", value) }, cancellationToken);

        var failure = Assert.ThrowsAsync<EndpointException>(() => sending());
        Assert.That((failure.Code, failure.IsTransient), Is.EqualTo(("ESB-HDR-VALUE", false)));
        Assert.That(backend.Requests, Is.Empty);
    }

    [Test, Property("Case", "HDR-06"), CancelAfter(30_000)]
    public async Task Content_type_of_more_than_one_line_is_not_sent(CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync();
        var endpoint = Outbound(backend);

        var sending = async () => await endpoint.SendAsync(Some.Message(contentType: "text/plain\r\nX-Evil: two"), cancellationToken);

        Assert.That(Assert.ThrowsAsync<EndpointException>(() => sending()).Code, Is.EqualTo("ESB-HDR-VALUE"));
        Assert.That(backend.Requests, Is.Empty);
    }

    [Test, Property("Case", "HDR-06"), CancelAfter(30_000)]
    public async Task Value_of_more_than_one_line_is_not_answered(CancellationToken cancellationToken)
    {
        _bus.With(
            "answer",
            (context, _) =>
            {
                context.Message = context.Message with { Headers = MessageHeaders.Empty.With("x-a", "one\r\nX-Evil: two") };
                return ValueTask.CompletedTask;
            }
        );
        await _bus.StartAsync(""" "ask": { "type": "http-inbound", "path": "/ask", "process": "answer", "mode": "request-reply" } """);

        using var response = await _bus.PostAsync("/ask", "<q/>", cancellationToken: cancellationToken);

        await AssertProblemAsync(response, HttpStatusCode.InternalServerError, "ESB-HDR-VALUE", cancellationToken);
        Assert.That(response.Headers.Contains("X-Evil"), Is.False);
    }

    [Test, Property("Case", "HDR-07"), CancelAfter(30_000)]
    public async Task Header_that_is_given_twice_is_a_list(CancellationToken cancellationToken)
    {
        await _bus.StartAsync(Orders);

        await SendAsync(cancellationToken, ("X-A", "one"), ("x-a", "two"));

        Assert.That(_bus.Published.Single().Headers["x-a"], Is.EqualTo("one, two"));
    }

    [
        TestCase("Content-Type: text/plain\r\nContent-Type: text/xml\r\n"),
        TestCase("X-Correlation-Id: a\r\nX-Correlation-Id: b\r\n"),
        Property("Case", "HDR-07"),
        CancelAfter(30_000)
    ]
    public async Task Header_that_must_be_one_is_refused_when_it_is_given_twice(string headers, CancellationToken cancellationToken)
    {
        await _bus.StartAsync(Orders);

        var answer = await RawConnection.AskAsync(
            _bus.Port,
            $"POST /orders HTTP/1.1\r\nHost: bus\r\nConnection: close\r\nContent-Length: 1\r\n{headers}\r\nx",
            cancellationToken
        );

        Assert.That(answer, Does.StartWith("HTTP/1.1 400 ").And.Contain("ESB-HDR-DUP"));
        Assert.That(_bus.Published, Is.Empty);
    }

    [Test, Property("Case", "HDR-08"), CancelAfter(30_000)]
    public async Task Headers_of_more_than_16_KiB_in_all_are_refused(CancellationToken cancellationToken)
    {
        await _bus.StartAsync(Orders);
        var headers = string.Concat(Enumerable.Range(0, 20).Select(number => $"X-{number}: {new string('x', 1000)}\r\n"));

        var answer = await RawConnection.AskAsync(
            _bus.Port,
            $"POST /orders HTTP/1.1\r\nHost: bus\r\n{headers}Content-Length: 0\r\n\r\n",
            cancellationToken
        );

        Assert.That(answer, Does.StartWith("HTTP/1.1 431 "));
    }

    [Test, Property("Case", "HDR-09"), CancelAfter(30_000)]
    public async Task Header_that_the_connection_names_does_not_become_one_of_the_message(CancellationToken cancellationToken)
    {
        await _bus.StartAsync(Orders);

        await SendAsync(cancellationToken, ("Connection", "X-Other, x-hop"), ("X-Hop", "1"), ("X-End", "2"));

        Assert.That(_bus.Published.Single().Headers.Select(header => header.Key), Is.EqualTo(new[] { "X-End" }));
    }

    [Test, Property("Case", "HDR-11"), CancelAfter(30_000)]
    public async Task Correlation_is_kept_up_to_128_characters(CancellationToken cancellationToken)
    {
        await _bus.StartAsync(Orders);

        using var taken = await SendAsync(cancellationToken, ("X-Correlation-Id", new string('c', 128)));
        using var refused = await SendAsync(cancellationToken, ("X-Correlation-Id", new string('c', 129)));

        Assert.That(_bus.Published.Single().CorrelationId, Is.EqualTo(new string('c', 128)));
        await AssertProblemAsync(refused, HttpStatusCode.BadRequest, "ESB-HDR-CORRELATION", cancellationToken);
    }

    [Test, CancelAfter(30_000)]
    public async Task Only_headers_of_the_list_come_in(CancellationToken cancellationToken)
    {
        await _bus.StartAsync(
            """ "orders": { "type": "http-inbound", "path": "/orders", "publish": "orders.new", "headers": ["Shop", "x-*"] } """
        );

        await SendAsync(cancellationToken, ("shop", "1"), ("X-Order", "ä"), ("Authorization", "Basic secret"), ("Cookie", "a=b"));

        Assert.That(_bus.Published.Single().Headers.Select(header => header.Key), Is.EquivalentTo(new[] { "shop", "X-Order" }));
    }

    private IOutboundEndpoint Outbound(Backend backend, string more = "")
    {
        _bus.Read($$""" "backend": { "type": "http-outbound", "url": "{{backend.Url}}" {{(more.Length > 0 ? "," : "")}} {{more}} } """);
        return OutboundEndpoints.Create(_bus, "backend").CreateInstance();
    }

    private async Task<HttpResponseMessage> SendAsync(CancellationToken cancellationToken, params (string Name, string Value)[] headers)
    {
        using var request = new HttpRequestMessage(HttpMethod.Post, "/orders") { Content = new StringContent("<order/>") };
        foreach (var (name, value) in headers)
            request.Headers.TryAddWithoutValidation(name, value);
        return await _bus.Client.SendAsync(request, cancellationToken);
    }
}
