using System.Net;
using System.Text.Json;
using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Tests.Fakes;
using Microsoft.Extensions.Logging;
using NSubstitute;
using NSubstitute.ExceptionExtensions;
using static Esb.Tests.Endpoints.Http.Receiving.HttpInboundTests;

namespace Esb.Tests.Endpoints.Http.Listening;

/// <summary>Rows HTP of the catalogue of bad inputs, over real connections.</summary>
public sealed class BadRequestTests
{
    private const string Orders =
        """ "orders": { "type": "http-inbound", "path": "/orders", "publish": "orders.new", "maxBodySize": "1KiB" } """;
    private const string Answering =
        """ "ask": { "type": "http-inbound", "path": "/ask", "process": "answer", "mode": "request-reply", "timeout": "200ms" } """;

    private HttpBus _bus = null!;

    [SetUp]
    public void CreateBus() => _bus = new HttpBus();

    [TearDown]
    public async Task StopBus() => await _bus.DisposeAsync();

    [Test, Property("Case", "HTP-01"), CancelAfter(30_000)]
    public async Task Unknown_path_is_not_found_and_no_other_is_told(CancellationToken cancellationToken)
    {
        await _bus.StartAsync(Orders);

        using var response = await _bus.PostAsync("/nowhere", "<order/>", cancellationToken: cancellationToken);

        await AssertProblemAsync(response, HttpStatusCode.NotFound, "ESB-HTTP-NOROUTE", cancellationToken);
        Assert.That(await response.Content.ReadAsStringAsync(cancellationToken), Does.Not.Contain("orders"));
    }

    [Test, Property("Case", "HTP-02"), CancelAfter(30_000)]
    public async Task Wrong_method_is_told_the_right_ones(CancellationToken cancellationToken)
    {
        await _bus.StartAsync(
            Orders + """ , "put": { "type": "http-inbound", "path": "/orders", "methods": ["PUT"], "publish": "orders.new" } """
        );

        using var response = await _bus.Client.DeleteAsync("/orders", cancellationToken);

        await AssertProblemAsync(response, HttpStatusCode.MethodNotAllowed, "ESB-HTTP-METHOD", cancellationToken);
        Assert.That(response.Content.Headers.Allow, Is.EquivalentTo(new[] { "POST", "PUT" }));
    }

    [Test, Property("Case", "HTP-03"), CancelAfter(30_000)]
    public async Task Body_that_says_it_is_too_large_is_refused_before_it_is_read(CancellationToken cancellationToken)
    {
        await _bus.StartAsync(Orders);

        using var connection = await RawConnection.OpenAsync(_bus.Port, cancellationToken);
        await connection.WriteAsync("POST /orders HTTP/1.1\r\nHost: bus\r\nContent-Length: 100000000\r\n\r\n", cancellationToken);
        var answer = await connection.ReadUntilAsync("}", cancellationToken);

        Assert.That(answer, Does.StartWith("HTTP/1.1 413 ").And.Contain("ESB-BODY-SIZE").And.Contain("Connection: close"));
        Assert.That(
            _bus.Audit.Facts.Single(),
            Has.Property(nameof(AuditFact.Kind)).EqualTo(AuditKind.Refused).And.Property(nameof(AuditFact.Code)).EqualTo("ESB-BODY-SIZE")
        );
    }

    [Test, Property("Case", "HTP-04"), CancelAfter(30_000)]
    public async Task Body_in_chunks_is_refused_at_the_limit_and_the_connection_closed(CancellationToken cancellationToken)
    {
        await _bus.StartAsync(Orders);
        var chunk = "200\r\n" + new string('x', 0x200) + "\r\n";

        var answer = await RawConnection.AskAsync(
            _bus.Port,
            "POST /orders HTTP/1.1\r\nHost: bus\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk + chunk + chunk,
            cancellationToken
        );

        Assert.That(answer, Does.StartWith("HTTP/1.1 413 ").And.Contain("ESB-BODY-SIZE").And.Contain("Connection: close"));
        Assert.That(_bus.Published, Is.Empty);
    }

    [Test, CancelAfter(30_000)]
    public async Task Body_of_exactly_the_limit_is_taken(CancellationToken cancellationToken)
    {
        await _bus.StartAsync(Orders);

        using var response = await _bus.PostAsync("/orders", new string('x', 1024), cancellationToken: cancellationToken);

        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.Accepted));
    }

    [TestCase("application/json"), TestCase("nonsense"), TestCase(""), Property("Case", "HTP-10"), CancelAfter(30_000)]
    public async Task Content_type_that_is_not_taken_is_told_which_are(string contentType, CancellationToken cancellationToken)
    {
        await _bus.StartAsync(
            """ "orders": { "type": "http-inbound", "path": "/orders", "publish": "orders.new", "accept": ["application/xml", "text/*"] } """
        );
        using var content = new ByteArrayContent("{}"u8.ToArray());
        if (contentType.Length > 0)
            content.Headers.TryAddWithoutValidation("Content-Type", contentType);

        using var response = await _bus.Client.PostAsync("/orders", content, cancellationToken);

        await AssertProblemAsync(response, HttpStatusCode.UnsupportedMediaType, "ESB-HTTP-CONTENTTYPE", cancellationToken);
        Assert.That(await response.Content.ReadAsStringAsync(cancellationToken), Does.Contain("application/xml, text/*"));
        Assert.That(_bus.Audit.Kinds, Is.EqualTo(new[] { AuditKind.Refused }));
    }

    [TestCase("application/xml"), TestCase("Application/XML; charset=utf-8"), TestCase("text/plain"), CancelAfter(30_000)]
    public async Task Content_type_that_is_taken_is_taken_whatever_its_parameters(string contentType, CancellationToken cancellationToken)
    {
        await _bus.StartAsync(
            """ "orders": { "type": "http-inbound", "path": "/orders", "publish": "orders.new", "accept": ["application/xml", "text/*"] } """
        );
        using var content = new ByteArrayContent("<order/>"u8.ToArray());
        content.Headers.TryAddWithoutValidation("Content-Type", contentType);

        using var response = await _bus.Client.PostAsync("/orders", content, cancellationToken);

        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.Accepted));
        Assert.That(_bus.Published.Single().ContentType, Is.EqualTo(contentType));
    }

    [Test, Property("Case", "HTP-26"), CancelAfter(30_000)]
    public async Task Caller_that_finds_no_place_is_told_to_come_back(CancellationToken cancellationToken)
    {
        var leave = new TaskCompletionSource();
        _bus.With("slow", async (_, token) => await leave.Task.WaitAsync(token));
        await _bus.StartAsync(""" "in": { "type": "http-inbound", "path": "/in", "process": "slow", "maxConcurrentCalls": 2 } """);

        var calls = Enumerable.Range(0, 5).Select(_ => _bus.PostAsync("/in", "<order/>", cancellationToken: cancellationToken)).ToList();
        using var refused = await await Task.WhenAny(calls);
        leave.SetResult();

        await AssertProblemAsync(refused, HttpStatusCode.ServiceUnavailable, "ESB-OVERLOAD", cancellationToken);
        Assert.That(refused.Headers.RetryAfter!.Delta, Is.EqualTo(TimeSpan.FromSeconds(1)));
        var answers = await Task.WhenAll(calls);
        Assert.That(
            answers.Count(answer => answer.StatusCode == HttpStatusCode.Accepted),
            Is.EqualTo(4),
            "two at once, and two that waited"
        );
    }

    [Test, Property("Case", "HTP-26"), CancelAfter(30_000)]
    public async Task Sender_is_told_to_come_back_while_the_broker_is_away(CancellationToken cancellationToken)
    {
        _bus.Publisher.PublishAsync(default!, default!, default!, default)
            .ThrowsAsyncForAnyArgs(new EsbException("ESB-TOPIC-UNAVAILABLE", "The topic cannot take messages.", FaultKind.Unavailable));
        await _bus.StartAsync(Orders);

        using var response = await _bus.PostAsync("/orders", "<order/>", cancellationToken: cancellationToken);

        await AssertProblemAsync(response, HttpStatusCode.ServiceUnavailable, "ESB-TOPIC-UNAVAILABLE", cancellationToken);
        Assert.That(response.Headers.RetryAfter!.Delta, Is.GreaterThan(TimeSpan.Zero));
        Assert.That(_bus.Audit.Kinds, Is.EqualTo(new[] { AuditKind.Received, AuditKind.Failed }));
    }

    [TestCase("one-way"), TestCase("request-reply"), Property("Case", "HTP-27"), CancelAfter(30_000)]
    public async Task Sender_is_told_to_repeat_what_nobody_can_tell_of(string mode, CancellationToken cancellationToken)
    {
        var unknown = new EsbException("ESB-TOPIC-UNKNOWN", "Nobody can tell whether orders.new took the message.", FaultKind.Unavailable)
        {
            RetryAfter = TimeSpan.FromSeconds(5),
        };
        _bus.Publisher.PublishAsync(default!, default!, default!, default).ThrowsAsyncForAnyArgs(unknown);
        _bus.Publisher.RequestAsync(default!, default!, default, default!, default).ThrowsAsyncForAnyArgs(unknown);
        await _bus.StartAsync(
            $$""" "orders": { "type": "http-inbound", "path": "/orders", "publish": "orders.new", "mode": "{{mode}}" } """
        );

        using var response = await _bus.PostAsync("/orders", "<order/>", cancellationToken: cancellationToken);

        await AssertProblemAsync(response, HttpStatusCode.ServiceUnavailable, "ESB-HTTP-UNKNOWN", cancellationToken);
        Assert.That(
            await response.Content.ReadAsStringAsync(cancellationToken),
            Does.Contain("repeat the request with the same Idempotency-Key")
        );
        Assert.That(response.Headers.RetryAfter!.Delta, Is.EqualTo(TimeSpan.FromSeconds(5)));
        Assert.That(_bus.Audit.Kinds, Is.EqualTo(new[] { AuditKind.Received, AuditKind.Failed }));
    }

    [Test, Property("Case", "HTP-26"), CancelAfter(30_000)]
    public async Task Sender_is_told_to_come_back_while_nothing_can_be_recorded(CancellationToken cancellationToken)
    {
        _bus.Audit.Failure = new EsbException("ESB-AUD-WRITE", "The audit trail cannot be written.", FaultKind.Unavailable);
        await _bus.StartAsync(Orders);

        using var response = await _bus.PostAsync("/orders", "<order/>", cancellationToken: cancellationToken);

        await AssertProblemAsync(response, HttpStatusCode.ServiceUnavailable, "ESB-AUD-WRITE", cancellationToken);
    }

    [Test, Property("Case", "AUD-05"), CancelAfter(30_000)]
    public async Task Sender_is_not_asked_to_come_back_with_what_the_audit_refuses_for_good(CancellationToken cancellationToken)
    {
        _bus.Audit.Failure = new EsbException("ESB-AUD-WRITE", "The audit store refuses the fact.", FaultKind.Internal);
        await _bus.StartAsync(Orders);

        using var response = await _bus.PostAsync("/orders", "<order/>", cancellationToken: cancellationToken);

        await AssertProblemAsync(response, HttpStatusCode.InternalServerError, "ESB-AUD-WRITE", cancellationToken);
        Assert.That(response.Headers.RetryAfter, Is.Null);
        Assert.That(_bus.Published, Is.Empty, "what cannot be recorded is not worked on");
    }

    [Test, Property("Case", "AUD-05"), CancelAfter(30_000)]
    public async Task Sender_is_not_asked_to_repeat_what_was_worked_on_and_is_refused_by_the_audit(CancellationToken cancellationToken)
    {
        var refusal = new EsbException("ESB-AUD-WRITE", "The audit store refuses the fact.", FaultKind.Internal);
        _bus.Publisher.PublishAsync(default!, default!, default!, default).ThrowsAsyncForAnyArgs(AuditFaults.Unrecorded(refusal));
        await _bus.StartAsync(Orders);

        using var response = await _bus.PostAsync("/orders", "<order/>", cancellationToken: cancellationToken);

        await AssertProblemAsync(response, HttpStatusCode.InternalServerError, "ESB-AUD-UNRECORDED", cancellationToken);
        Assert.That(response.Headers.RetryAfter, Is.Null);
    }

    [Test, Property("Case", "T-AUD-1"), CancelAfter(30_000)]
    public async Task Callers_are_turned_away_while_there_is_no_room_to_record_in(CancellationToken cancellationToken)
    {
        await _bus.StartAsync(Orders);
        _bus.AuditGate.Tell("the spool is full to 95 %");

        using var response = await _bus.PostAsync("/orders", "<order/>", cancellationToken: cancellationToken);

        await AssertProblemAsync(response, HttpStatusCode.ServiceUnavailable, "ESB-AUD-FULL", cancellationToken);
        Assert.That(response.Headers.RetryAfter!.Delta, Is.EqualTo(TimeSpan.FromSeconds(5)));
        Assert.That((_bus.Audit.Facts.Count, _bus.Published.Count), Is.EqualTo((0, 0)));
        _bus.AuditGate.Tell(null);
        using var later = await _bus.PostAsync("/orders", "<order/>", cancellationToken: cancellationToken);
        Assert.That(later.StatusCode, Is.EqualTo(HttpStatusCode.Accepted));
    }

    [
        TestCase(true, "Content-Length: 10\r\n\r\nfive!"),
        TestCase(false, "Content-Length: 10\r\n\r\nfive!"),
        TestCase(false, "Transfer-Encoding: chunked\r\n\r\n5\r\nfive!\r\n"),
        TestCase(false, "Transfer-Encoding: chunked\r\n\r\n5\r\nfiv"),
        Property("Case", "HTP-28"),
        CancelAfter(10_000)
    ]
    public async Task Caller_that_hangs_up_within_its_body_leaves_the_fact_that_it_was_aborted_and_no_message(
        bool resets,
        string rest,
        CancellationToken cancellationToken
    )
    {
        await _bus.StartAsync(Orders);
        using var connection = await RawConnection.OpenAsync(_bus.Port, cancellationToken);
        await connection.WriteAsync($"POST /orders HTTP/1.1\r\nHost: bus\r\n{rest}", cancellationToken);
        await Eventually.HoldsAsync(
            () => _bus.Log.All.Any(line => line.Text.Contains("/orders", StringComparison.Ordinal)),
            "the request to begin",
            cancellationToken
        );

        if (resets)
            connection.Reset();
        else
            connection.FinishSending();

        await Eventually.HoldsAsync(() => _bus.Audit.Facts.Count == 1, "the fact that it was aborted", cancellationToken);
        Assert.Multiple(() =>
        {
            Assert.That(
                _bus.Audit.Facts[0],
                Has.Property(nameof(AuditFact.Kind))
                    .EqualTo(AuditKind.Aborted)
                    .And.Property(nameof(AuditFact.Code))
                    .EqualTo("ESB-HTTP-ABORTED")
            );
            Assert.That(_bus.Status[0].Failures, Is.EqualTo(1));
            Assert.That(_bus.Published, Is.Empty);
            Assert.That(_bus.Log.All.Where(line => line.Level > LogLevel.Information), Is.Empty);
        });
    }

    [Test, Property("Case", "HTP-28"), CancelAfter(30_000)]
    public async Task Message_is_published_when_its_sender_hangs_up_after_the_whole_body(CancellationToken cancellationToken)
    {
        var publishing = new TaskCompletionSource();
        var confirmed = new TaskCompletionSource();
        _bus.Publisher.PublishAsync(default!, default!, default!, default)
            .ReturnsForAnyArgs(call =>
            {
                publishing.SetResult();
                return new ValueTask(confirmed.Task.WaitAsync(call.Arg<CancellationToken>()));
            });
        await _bus.StartAsync(Orders);
        using var connection = await RawConnection.OpenAsync(_bus.Port, cancellationToken);
        await connection.WriteAsync("POST /orders HTTP/1.1\r\nHost: bus\r\nContent-Length: 5\r\n\r\nfive!", cancellationToken);
        await publishing.Task.WaitAsync(cancellationToken);

        connection.Reset();
        confirmed.SetResult();

        await Eventually.HoldsAsync(() => _bus.Status[0].Messages == 1, "the message", cancellationToken);
        Assert.That(_bus.Log.All.Where(line => line.Level > LogLevel.Information), Is.Empty);
    }

    [Test, Property("Case", "HTP-30"), CancelAfter(30_000)]
    public async Task Failure_of_a_process_tells_nothing_of_the_inside(CancellationToken cancellationToken)
    {
        _bus.With("answer", (_, _) => throw new InvalidOperationException("password=secret at /srv/secret"));
        await _bus.StartAsync(Answering);

        using var response = await _bus.PostAsync("/ask", "<q/>", cancellationToken: cancellationToken);

        await AssertProblemAsync(response, HttpStatusCode.InternalServerError, "ESB-PROC-FAILED", cancellationToken);
        Assert.That(await response.Content.ReadAsStringAsync(cancellationToken), Does.Not.Contain("secret"));
        Assert.That(
            _bus.Log.All.Count(line =>
                line.Level == LogLevel.Error && line.Text.Contains("InvalidOperationException", StringComparison.Ordinal)
            ),
            Is.EqualTo(1),
            "logged once"
        );
        Assert.That(_bus.Audit.Kinds, Is.EqualTo(new[] { AuditKind.Received, AuditKind.Failed }));
    }

    [Test, Property("Case", "HTP-31"), CancelAfter(30_000)]
    public async Task Answer_that_takes_too_long_is_a_time_out_and_its_work_cancelled(CancellationToken cancellationToken)
    {
        var cancelled = false;
        _bus.With(
            "answer",
            async (_, token) =>
            {
                await using var registration = token.Register(() => cancelled = true);
                await Task.Delay(Timeout.Infinite, token);
            }
        );
        await _bus.StartAsync(Answering);

        using var response = await _bus.PostAsync("/ask", "<q/>", cancellationToken: cancellationToken);

        await AssertProblemAsync(response, HttpStatusCode.GatewayTimeout, "ESB-HTTP-TIMEOUT", cancellationToken);
        Assert.That(cancelled, Is.True);
        Assert.That(_bus.Audit.Facts[^1].Code, Is.EqualTo("ESB-HTTP-TIMEOUT"));
    }

    [Test, Property("Case", "HTP-31"), CancelAfter(30_000)]
    public async Task Request_over_a_topic_that_takes_too_long_is_the_same_time_out(CancellationToken cancellationToken)
    {
        _bus.Publisher.RequestAsync(default!, default!, default, default!, default)
            .ThrowsAsyncForAnyArgs(new EsbException("ESB-REQUEST-TIMEOUT", "No reply.", FaultKind.Timeout));
        await _bus.StartAsync(""" "in": { "type": "http-inbound", "path": "/in", "publish": "orders.query", "mode": "request-reply" } """);

        using var response = await _bus.PostAsync("/in", "?", cancellationToken: cancellationToken);

        await AssertProblemAsync(response, HttpStatusCode.GatewayTimeout, "ESB-HTTP-TIMEOUT", cancellationToken);
    }

    [
        TestCase(FaultKind.Malformed, 400, AuditKind.Refused),
        TestCase(FaultKind.Invalid, 422, AuditKind.Refused),
        TestCase(FaultKind.Outside, 502, AuditKind.Failed),
        TestCase(FaultKind.Internal, 500, AuditKind.Failed),
        CancelAfter(30_000)
    ]
    public async Task Fault_has_its_status_and_is_recorded(
        FaultKind kind,
        int status,
        AuditKind recorded,
        CancellationToken cancellationToken
    )
    {
        _bus.With("answer", (_, _) => throw new EsbException("ESB-XML-SOME", "line 1 column 2", kind));
        await _bus.StartAsync(Answering);

        using var response = await _bus.PostAsync("/ask", "<q", cancellationToken: cancellationToken);

        await AssertProblemAsync(response, (HttpStatusCode)status, "ESB-XML-SOME", cancellationToken);
        var problem = JsonDocument.Parse(await response.Content.ReadAsStringAsync(cancellationToken)).RootElement;
        Assert.That(problem.GetProperty("detail").GetString(), Is.EqualTo("line 1 column 2"));
        Assert.That(
            _bus.Audit.Facts[^1],
            Has.Property(nameof(AuditFact.Kind)).EqualTo(recorded).And.Property(nameof(AuditFact.Code)).EqualTo("ESB-XML-SOME")
        );
    }

    [Test, CancelAfter(30_000)]
    public async Task Status_that_a_process_fails_with_goes_before_that_of_its_kind(CancellationToken cancellationToken)
    {
        _bus.With("answer", (_, _) => throw new EsbException("ESB-PROC-REFUSED", "No.", FaultKind.Invalid) { Status = 409 });
        await _bus.StartAsync(Answering);

        using var response = await _bus.PostAsync("/ask", "<q/>", cancellationToken: cancellationToken);

        await AssertProblemAsync(response, HttpStatusCode.Conflict, "ESB-PROC-REFUSED", cancellationToken);
    }
}
