using System.Globalization;
using System.Net.Sockets;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Endpoints.Http.Sending;
using Microsoft.AspNetCore.Http;

namespace Esb.Tests.Endpoints.Http.Sending;

public sealed class HttpOutboundTests
{
    private HttpBus _bus = null!;

    [SetUp]
    public void CreateBus() => _bus = new HttpBus();

    [TearDown]
    public async Task StopBus() => await _bus.DisposeAsync();

    [Test, CancelAfter(30_000)]
    public async Task Message_is_sent_with_its_type_and_the_headers_that_may_leave(CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync();
        var message = Some.Message("<order/>", contentType: "application/xml") with
        {
            Headers = MessageHeaders.From([new("x-order", "ä"), new("y", "2"), new("esb-key", "3")]),
        };

        await Endpoint(backend.Url).SendAsync(message, cancellationToken);

        Assert.That(
            backend.Requests.Single(),
            Does.StartWith("POST /backend\n")
                .And.EndWith("\n\n<order/>")
                .And.Contain("Content-Type: application/xml")
                .And.Contain("x-order: ä")
                .And.Not.Contain("y: 2")
                .And.Not.Contain("esb-")
                .IgnoreCase
        );
    }

    [TestCase("POST", true), TestCase("PUT", true), TestCase("DELETE", true), TestCase("GET", false), CancelAfter(30_000)]
    public async Task Each_attempt_tells_by_the_message_id_which_message_it_is(
        string method,
        bool tells,
        CancellationToken cancellationToken
    )
    {
        await using var backend = await Backend.StartAsync();
        var message = Some.Message();
        var endpoint = Endpoint(backend.Url, $""" , "method": "{method}" """);

        await endpoint.SendAsync(message, cancellationToken);
        await endpoint.SendAsync(message with { Attempt = 2 }, cancellationToken);

        Assert.That(backend.Requests, Has.Count.EqualTo(2));
        Assert.That(backend.Requests, tells ? Has.All.Contain($"Idempotency-Key: {message.Id}") : Has.None.Contain("Idempotency-Key"));
    }

    [Test, CancelAfter(30_000)]
    public async Task Request_under_a_lease_tells_its_token(CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync();
        var endpoint = (IFencedEndpoint)Endpoint(backend.Url);

        await endpoint.SendAsync(Some.Message(), fencingToken: 42, cancellationToken);
        await endpoint.SendAsync(Some.Message(), cancellationToken);

        Assert.That(backend.Requests[0], Does.Contain("Esb-Fencing-Token: 42"));
        Assert.That(backend.Requests[1], Does.Not.Contain("Esb-Fencing-Token"));
    }

    [TestCase("""["x-*"]""", "of-bus"), TestCase("""["idempotency-key"]""", "of-sender"), CancelAfter(30_000)]
    public async Task Key_of_a_message_goes_before_its_id_where_it_may_leave(
        string headers,
        string expected,
        CancellationToken cancellationToken
    )
    {
        await using var backend = await Backend.StartAsync();
        var message = Some.Message() with { Headers = MessageHeaders.Empty.With("Idempotency-Key", "of-sender") };

        await Endpoint(backend.Url, $""" , "headers": {headers} """).SendAsync(message, cancellationToken);

        var line = backend
            .Requests.Single()
            .Split('\n')
            .Single(header => header.StartsWith("Idempotency-Key: ", StringComparison.OrdinalIgnoreCase));
        Assert.That(line, Does.EndWith(expected == "of-bus" ? message.Id.ToString() : "of-sender"));
    }

    [TestCase("PUT", true), TestCase("GET", false), CancelAfter(30_000)]
    public async Task Method_is_that_of_the_configuration(string method, bool hasLength, CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync();

        await Endpoint(backend.Url, $""" , "method": "{method}" """).SendAsync(Some.Message(""), cancellationToken);

        Assert.That(backend.Requests.Single(), Does.StartWith($"{method} /backend\n"));
        Assert.That(backend.Requests.Single().Contains("Content-Length: 0", StringComparison.Ordinal), Is.EqualTo(hasLength));
    }

    [Test, CancelAfter(30_000)]
    public async Task Answer_is_a_reply_with_status_type_and_the_headers_that_may_enter(CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync(context =>
        {
            context.Response.StatusCode = 418;
            context.Response.ContentType = "text/plain";
            context.Response.Headers["X-A"] = "1";
            context.Response.Headers["Esb-Fault"] = "no";
            context.Response.Headers.SetCookie = "a=b";
            return context.Response.WriteAsync("short and stout");
        });
        var request = Some.Message();

        var answer = await Endpoint(backend.Url).SendAsync(request, cancellationToken);

        Assert.Multiple(() =>
        {
            Assert.That(answer!.Body.ReadText(), Is.EqualTo("short and stout"));
            Assert.That(answer.ContentType, Is.EqualTo("text/plain"));
            Assert.That(answer.CorrelationId, Is.EqualTo(request.Id.ToString()));
            Assert.That(
                answer.Headers,
                Is.EquivalentTo(new[] { KeyValuePair.Create("X-A", "1"), KeyValuePair.Create(EsbHeaders.Status, "418") })
            );
        });
    }

    [Test, CancelAfter(30_000)]
    public async Task Redirect_is_an_answer_and_is_not_followed(CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync(context =>
        {
            context.Response.Redirect("/elsewhere");
            context.Response.Cookies.Append("a", "b");
            return Task.CompletedTask;
        });
        var endpoint = Endpoint(backend.Url);

        await endpoint.SendAsync(Some.Message(), cancellationToken);
        var answer = await endpoint.SendAsync(Some.Message(), cancellationToken);

        Assert.That(answer!.Headers[EsbHeaders.Status], Is.EqualTo("302"));
        Assert.That(backend.Requests, Has.Count.EqualTo(2).And.None.Contains("Cookie"));
    }

    [Test, CancelAfter(30_000)]
    public async Task Answer_over_the_limit_is_a_failure_of_the_outside(CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync(context => context.Response.WriteAsync(new string('x', 2000)));

        var failure = Failure(Endpoint(backend.Url, """ , "maxBodySize": "1KiB" """), cancellationToken);

        Assert.That((failure.Code, failure.IsTransient, failure.Kind), Is.EqualTo(("ESB-HTTP-ANSWERSIZE", false, FaultKind.Outside)));
    }

    [Test, CancelAfter(30_000)]
    public void Outside_that_refuses_the_connection_is_away(CancellationToken cancellationToken)
    {
        var port = FreePorts.Next();
        var failure = Failure(Endpoint($"http://127.0.0.1:{port}/secret?key=1"), cancellationToken);

        Assert.That(
            (failure.Code, failure.IsTransient, failure.IsOutage, failure.Kind),
            Is.EqualTo(("ESB-HTTP-UNREACHABLE", true, true, FaultKind.Outside))
        );
        Assert.That(failure.Message, Does.Not.Contain("127.0.0.1"));
        Assert.That(failure.Detail, Is.EqualTo($"http://127.0.0.1:{port}: the connection was refused."));
    }

    [Test, CancelAfter(30_000)]
    public void Host_name_that_is_unknown_is_told(CancellationToken cancellationToken)
    {
        var failure = Failure(Endpoint("http://nowhere.invalid:8080/", """ , "allowInsecure": true """), cancellationToken);

        Assert.That((failure.Code, failure.IsOutage), Is.EqualTo(("ESB-HTTP-UNREACHABLE", true)));
        Assert.That(failure.Detail, Does.StartWith("http://nowhere.invalid:8080: the host name "));
    }

    [Test, CancelAfter(30_000)]
    public async Task Outside_that_hangs_up_on_one_message_is_not_away(CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync(context =>
        {
            context.Abort();
            return Task.CompletedTask;
        });

        var failure = Failure(Endpoint(backend.Url), cancellationToken);

        Assert.That(
            (failure.Code, failure.IsTransient, failure.IsOutage, failure.IsUnanswered, failure.Kind),
            Is.EqualTo(("ESB-HTTP-LOST", true, false, true, FaultKind.Outside))
        );
    }

    [Test, CancelAfter(30_000)]
    public async Task Sending_that_is_cancelled_is_no_failure_of_the_outside(CancellationToken cancellationToken)
    {
        using var cancelled = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        await using var backend = await Backend.StartAsync(async context =>
        {
            await cancelled.CancelAsync();
            await Task.Delay(Timeout.Infinite, context.RequestAborted);
        });

        var sending = async () => await Endpoint(backend.Url).SendAsync(Some.Message(), cancelled.Token);

        Assert.That(sending, Throws.InstanceOf<OperationCanceledException>());
    }

    [Test, CancelAfter(30_000)]
    public void Outside_that_does_not_take_the_connection_is_away(CancellationToken cancellationToken)
    {
        using var full = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        full.Bind(new System.Net.IPEndPoint(System.Net.IPAddress.Loopback, 0));
        full.Listen(backlog: 0);
        var port = ((System.Net.IPEndPoint)full.LocalEndPoint!).Port;
        using var taken = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        taken.Connect("127.0.0.1", port); // the one place there is

        var failure = Failure(Endpoint($"http://127.0.0.1:{port}/", """ , "timeout": "300ms" """), cancellationToken);

        Assert.That((failure.Code, failure.IsOutage, failure.Kind), Is.EqualTo(("ESB-HTTP-UNREACHABLE", true, FaultKind.Timeout)));
    }

    [
        TestCase(200, null),
        TestCase(204, null),
        TestCase(299, null),
        TestCase(302, false),
        TestCase(400, false),
        TestCase(404, false),
        TestCase(408, true),
        TestCase(429, true),
        TestCase(500, true),
        TestCase(503, true)
    ]
    public void Status_outside_2xx_fails_a_delivery(int status, bool? isTransient)
    {
        var failure = HttpAnswers.FailureOf("backend", Answer(status));

        Assert.That(failure?.IsTransient, Is.EqualTo(isTransient));
        if (failure is not null)
            Assert.That((failure.Code, failure.Endpoint), Is.EqualTo(("ESB-HTTP-STATUS", "backend")));
    }

    [
        TestCase(429, true),
        TestCase(502, true),
        TestCase(503, true),
        TestCase(504, true),
        TestCase(408, false),
        TestCase(500, false),
        TestCase(501, false)
    ]
    public void Status_of_a_proxy_without_its_server_or_of_an_overload_is_not_about_the_message(int status, bool isTurnedAway) =>
        Assert.That(HttpAnswers.FailureOf("backend", Answer(status))!.IsTurnedAway, Is.EqualTo(isTurnedAway));

    [
        TestCase("120", 120),
        TestCase("Sat, 21 Nov 2026 10:01:00 GMT", 60),
        TestCase("Sat, 21 Nov 2020 10:00:00 GMT", 0),
        TestCase("999999999", 86400),
        TestCase("soon", null)
    ]
    public void Wait_that_the_outside_asks_for_is_kept_to(string retryAfter, int? seconds)
    {
        var answer = Answer(429) with { CreatedAt = DateTimeOffset.Parse("2026-11-21T10:00:00Z", CultureInfo.InvariantCulture) };

        var failure = HttpAnswers.FailureOf("backend", answer with { Headers = answer.Headers.With("Retry-After", retryAfter) });

        Assert.That(failure!.RetryAfter?.TotalSeconds, Is.EqualTo(seconds));
    }

    [Test, CancelAfter(30_000)]
    public async Task Wait_that_the_outside_asks_for_comes_with_the_answer(CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync(context =>
        {
            context.Response.StatusCode = 503;
            context.Response.Headers.RetryAfter = "7";
            return Task.CompletedTask;
        });
        var endpoint = Endpoint(backend.Url);

        var answer = await endpoint.SendAsync(Some.Message(), cancellationToken);

        Assert.That(HttpAnswers.FailureOf("backend", answer!)!.RetryAfter, Is.EqualTo(TimeSpan.FromSeconds(7)));
    }

    [TestCase("ftp://host/"), TestCase("/relative"), TestCase("http://host/#part"), TestCase("http://user@host/"), TestCase("nonsense")]
    public void Url_that_is_none_of_http_is_refused(string url)
    {
        _bus.Read($$""" "backend": { "type": "http-outbound", "url": "{{url}}" } """);

        Assert.That(
            _bus.Errors.All.Select(error => (error.Code, error.Path)),
            Is.EqualTo(new[] { ("ESB-CFG-URL", "endpoints.backend.url") })
        );
    }

    [Test]
    public void Method_that_is_none_is_refused_with_the_one_that_was_meant()
    {
        _bus.Read(""" "backend": { "type": "http-outbound", "url": "http://localhost/", "method": "post" } """);

        Assert.That(
            _bus.Errors.All.Single().Describe(),
            Does.StartWith("endpoints.backend.method = \"post\": expected one of GET").And.Contain("did you mean \"POST\"?")
        );
    }

    private IOutboundEndpoint Endpoint(string url, string more = "")
    {
        _bus.Read($$""" "backend": { "type": "http-outbound", "url": "{{url}}" {{more}} } """);
        return OutboundEndpoints.Create(_bus, "backend").CreateInstance();
    }

    private static EsbMessage Answer(int status) =>
        Some.Message() with
        {
            Headers = MessageHeaders.Empty.With(EsbHeaders.Status, status.ToString(CultureInfo.InvariantCulture)),
        };

    private static EndpointException Failure(IOutboundEndpoint endpoint, CancellationToken cancellationToken) =>
        Assert.ThrowsAsync<EndpointException>(async () => await endpoint.SendAsync(Some.Message(), cancellationToken))!;
}
