using System.Net;
using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Tests.Fakes;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;
using static Esb.Tests.Endpoints.Http.Receiving.HttpInboundTests;

namespace Esb.Tests.Endpoints.Http.Relaying;

/// <summary>Relays with <c>audit</c>: request and answer are one record, written before the caller has the end of the answer. Where each
/// fact has to be durable first, nothing reaches the outside of which it is not recorded that it came.</summary>
[CancelAfter(30_000)]
public sealed class AuditedRelayTests
{
    private HttpBus _bus = null!;

    [SetUp]
    public void CreateBus() => _bus = new HttpBus();

    [TearDown]
    public async Task StopBus() => await _bus.DisposeAsync();

    [TestCase(true)]
    [TestCase(false)]
    public async Task Request_is_recorded_before_the_outside_has_it_where_facts_come_first_and_with_its_answer_otherwise(
        bool comesFirst,
        CancellationToken cancellationToken
    )
    {
        _bus.Audit.IsFlushedFirst = comesFirst;
        IReadOnlyList<AuditKind> before = [];
        await using var backend = await Backend.StartAsync(context =>
        {
            before = [.. _bus.Audit.Kinds];
            context.Response.StatusCode = StatusCodes.Status404NotFound;
            return context.Response.WriteAsync("not here");
        });
        await StartAsync(backend.Url);
        using var request = new HttpRequestMessage(HttpMethod.Put, "/relay?token=secret") { Content = new StringContent("<order/>") };
        request.Headers.Add("X-Order", "A-1");
        request.Headers.Add("Cookie", "session=1");
        request.Headers.Add("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");

        using var response = await _bus.Client.SendAsync(request, cancellationToken);
        await WaitForAsync(2, cancellationToken);
        // which is counted after it was recorded
        await Eventually.HoldsAsync(() => _bus.Status[0].InFlight == 0, "the end of the call", cancellationToken);

        var (received, replied) = (_bus.Audit.Facts[0], _bus.Audit.Facts[1]);
        var id = Guid.Parse(response.Headers.GetValues("Esb-Message-Id").Single());
        using (Assert.EnterMultipleScope())
        {
            Assert.That(
                (response.StatusCode, await response.Content.ReadAsStringAsync(cancellationToken)),
                Is.EqualTo((HttpStatusCode.NotFound, "not here"))
            );
            Assert.That(before, Is.EqualTo(comesFirst ? new[] { AuditKind.Received } : []));
            Assert.That(
                _bus.Audit.Groups,
                Is.EqualTo(new[] { (comesFirst ? 1 : 2, AuditDurability.Written) }),
                "the trail itself flushes what has to be"
            );
            Assert.That(_bus.Audit.Kinds, Is.EqualTo(new[] { AuditKind.Received, AuditKind.Replied }));
            Assert.That(
                _bus.Audit.Facts.Select(fact =>
                    (fact.MessageId, fact.ConversationId, fact.Endpoint, fact.Party, fact.TraceId, fact.Process)
                ),
                Has.All.EqualTo((id, id, "relay", "shop", "0af7651916cd43dd8448eb211c80319c", default(string)))
            );
            Assert.That(
                received.Fields,
                Is.EquivalentTo(
                    new Dictionary<string, string>
                    {
                        ["method"] = "PUT",
                        ["path"] = "/relay",
                        ["relayed-to"] = "backend",
                    }
                )
            );
            Assert.That(replied.Fields, Is.EquivalentTo(new Dictionary<string, string> { ["relayed-to"] = "backend", ["status"] = "404" }));
            Assert.That(replied.Duration, Is.GreaterThan(TimeSpan.Zero));
            Assert.That(
                _bus.Audit.ContentOf(received).Headers.Select(header => (header.Key.ToLowerInvariant(), header.Value)),
                Does.Contain(("x-order", "A-1")).And.None.Matches<(string Name, string)>(header => header.Name is "cookie" or "traceparent")
            );
            Assert.That(_bus.Audit.ContentOf(received).Body, Is.SameAs(MessageBody.Empty));
            Assert.That(
                backend.Requests.Single(),
                Does.StartWith("PUT /backend?token=secret\n").And.EndsWith("\n\n<order/>").And.Contain("Cookie: session=1")
            );
            Assert.That(_bus.Status[0], Has.Property("Messages").EqualTo(1).And.Property("Failures").EqualTo(0));
        }
    }

    [Test]
    public async Task Relay_that_nobody_audits_leaves_no_facts_and_does_not_ask_whether_it_could(CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync();
        await StartAsync(backend.Url, audit: "");
        _bus.AuditGate.Tell("the spool is full to 95 %");

        using var response = await _bus.PostAsync("/relay", "<order/>", cancellationToken: cancellationToken);

        Assert.That(
            (response.StatusCode, response.Headers.Contains("Esb-Message-Id"), _bus.Audit.Facts.Count),
            Is.EqualTo((HttpStatusCode.OK, false, 0))
        );
    }

    [Test, Property("Case", "T-AUD-1")]
    public async Task Closed_gate_turns_callers_away_before_the_outside_hears_of_them(CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync();
        await StartAsync(backend.Url);
        _bus.AuditGate.Tell("the spool is full to 95 %");

        using var refused = await _bus.PostAsync("/relay", "<order/>", cancellationToken: cancellationToken);
        _bus.AuditGate.Tell(null);
        using var later = await _bus.PostAsync("/relay", "<order/>", cancellationToken: cancellationToken);

        await AssertProblemAsync(refused, HttpStatusCode.ServiceUnavailable, "ESB-AUD-FULL", cancellationToken);
        Assert.That(refused.Headers.RetryAfter!.Delta, Is.EqualTo(TimeSpan.FromSeconds(5)));
        Assert.That((later.StatusCode, backend.Requests.Count), Is.EqualTo((HttpStatusCode.OK, 1)));
    }

    [TestCase("content-length")]
    [TestCase("chunked")]
    [TestCase("none")]
    public async Task Exchange_is_recorded_before_the_caller_has_the_end_of_the_answer(string framing, CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync(async context =>
        {
            if (framing == "none")
                context.Response.StatusCode = StatusCodes.Status204NoContent;
            if (framing == "content-length")
                context.Response.ContentLength = 4;
            if (framing == "chunked")
                await context.Response.StartAsync();
            if (framing != "none")
                await context.Response.WriteAsync("done");
        });
        await StartAsync(backend.Url);

        using var response = await _bus.PostAsync("/relay", "<order/>", cancellationToken: cancellationToken);
        await response.Content.ReadAsByteArrayAsync(cancellationToken);

        Assert.That(_bus.Audit.Kinds, Is.EqualTo(new[] { AuditKind.Received, AuditKind.Replied }), "nothing is waited for");
    }

    [Test]
    public async Task After_a_record_that_failed_the_next_request_is_recorded_before_it_is_relayed(CancellationToken cancellationToken)
    {
        var kinds = new List<AuditKind[]>();
        await using var backend = await Backend.StartAsync(context =>
        {
            kinds.Add([.. _bus.Audit.Kinds]);
            if (kinds.Count == 1)
                _bus.Audit.Failure = new EsbException("ESB-AUD-WRITE", "The audit trail cannot be written.", FaultKind.Unavailable);
            return context.Response.WriteAsync("done");
        });
        await StartAsync(backend.Url);

        using var unrecorded = await _bus.PostAsync("/relay", "<order/>", cancellationToken: cancellationToken);
        using var refused = await _bus.PostAsync("/relay", "<order/>", cancellationToken: cancellationToken);
        _bus.Audit.Failure = null;
        using var relayed = await _bus.PostAsync("/relay", "<order/>", cancellationToken: cancellationToken);
        using var next = await _bus.PostAsync("/relay", "<order/>", cancellationToken: cancellationToken);

        Assert.That(
            new[] { unrecorded, refused, relayed, next }.Select(response => response.StatusCode),
            Is.EqualTo(new[] { HttpStatusCode.OK, HttpStatusCode.ServiceUnavailable, HttpStatusCode.OK, HttpStatusCode.OK })
        );
        Assert.That(kinds, Is.EqualTo(new AuditKind[][] { [], [AuditKind.Received], [AuditKind.Received, AuditKind.Replied] }));
    }

    [Test]
    public async Task What_cannot_be_recorded_is_not_relayed(CancellationToken cancellationToken)
    {
        _bus.Audit.IsFlushedFirst = true;
        await using var backend = await Backend.StartAsync();
        await StartAsync(backend.Url);
        _bus.Audit.Failure = new EsbException("ESB-AUD-WRITE", "The audit trail cannot be written.", FaultKind.Unavailable);

        using var response = await _bus.PostAsync("/relay", "<order/>", cancellationToken: cancellationToken);

        await AssertProblemAsync(response, HttpStatusCode.ServiceUnavailable, "ESB-AUD-WRITE", cancellationToken);
        Assert.That(
            (backend.Requests.Count, _bus.Audit.Facts.Count, _bus.Status[0].Failures, Warnings().Count()),
            Is.EqualTo((0, 0, 1L, 0))
        );
    }

    [Test]
    public async Task Answer_whose_end_cannot_be_recorded_is_passed_on_and_the_log_says_so(CancellationToken cancellationToken)
    {
        _bus.Audit.IsFlushedFirst = true;
        await using var backend = await Backend.StartAsync(context =>
        {
            _bus.Audit.Failure = new EsbException("ESB-AUD-WRITE", "The audit trail cannot be written.", FaultKind.Unavailable);
            return context.Response.WriteAsync("done");
        });
        await StartAsync(backend.Url);

        using var response = await _bus.PostAsync("/relay", "<order/>", cancellationToken: cancellationToken);
        await Eventually.HoldsAsync(() => Warnings().Any(), "the warning", cancellationToken);

        var id = response.Headers.GetValues("Esb-Message-Id").Single();
        Assert.That(
            (response.StatusCode, await response.Content.ReadAsStringAsync(cancellationToken)),
            Is.EqualTo((HttpStatusCode.OK, "done"))
        );
        Assert.That(Warnings().Single(), Does.Contain(id).And.Contain("Replied").And.Contain("The audit trail cannot be written."));
        Assert.That(_bus.Audit.Kinds, Is.EqualTo(new[] { AuditKind.Received }));
    }

    [Test]
    public async Task Outside_that_cannot_be_reached_is_recorded_as_a_failure(CancellationToken cancellationToken)
    {
        await StartAsync($"http://127.0.0.1:{FreePorts.Next()}/");

        using var response = await _bus.PostAsync("/relay", "<order/>", cancellationToken: cancellationToken);

        await AssertProblemAsync(response, HttpStatusCode.BadGateway, "ESB-HTTP-UNREACHABLE", cancellationToken);
        AssertEnd(AuditKind.Failed, "ESB-HTTP-UNREACHABLE");
        Assert.That(response.Headers.GetValues("Esb-Message-Id").Single(), Is.EqualTo(_bus.Audit.Facts[0].MessageId.ToString()));
        Assert.That(_bus.Audit.Facts[1].Fields, Is.EquivalentTo(new Dictionary<string, string> { ["relayed-to"] = "backend" }));
    }

    [Test]
    public async Task Answer_that_breaks_off_is_recorded_as_a_failure(CancellationToken cancellationToken)
    {
        var begun = new TaskCompletionSource();
        await using var backend = await Backend.StartAsync(async context =>
        {
            context.Response.ContentLength = 10;
            await context.Response.WriteAsync("five!");
            await context.Response.Body.FlushAsync();
            await begun.Task;
            context.Abort();
        });
        await StartAsync(backend.Url);

        using var response = await _bus.Client.GetAsync("/relay", HttpCompletionOption.ResponseHeadersRead, cancellationToken);
        begun.SetResult();

        await WaitForAsync(2, cancellationToken);
        AssertEnd(AuditKind.Failed, "ESB-HTTP-LOST");
        Assert.That(() => response.Content.ReadAsStringAsync(cancellationToken), Throws.InstanceOf<HttpRequestException>());
    }

    [Test]
    public async Task Caller_that_hangs_up_is_recorded_as_aborted(CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync(context => Task.Delay(Timeout.Infinite, context.RequestAborted));
        await StartAsync(backend.Url);
        using var connection = await RawConnection.OpenAsync(_bus.Port, cancellationToken);
        await connection.WriteAsync("GET /relay HTTP/1.1\r\nHost: bus\r\n\r\n", cancellationToken);
        await Eventually.HoldsAsync(() => backend.Requests.Count == 1, "the request", cancellationToken);

        connection.Reset();

        await WaitForAsync(2, cancellationToken);
        AssertEnd(AuditKind.Aborted, "ESB-INTAKE-ABORTED");
    }

    [Test]
    public async Task Caller_that_hangs_up_within_its_body_is_recorded_as_aborted(CancellationToken cancellationToken)
    {
        _bus.Audit.IsFlushedFirst = true;
        var begun = new TaskCompletionSource();
        await using var backend = new RawBackend(
            async (outside, _, stopping) =>
            {
                await outside.ReadUntilAsync("five!", stopping);
                begun.SetResult();
                await outside.ReadUntilAsync("the rest", stopping); // until the relay gives up
            }
        );
        await StartAsync(backend.Url);
        using var connection = await RawConnection.OpenAsync(_bus.Port, cancellationToken);
        await connection.WriteAsync("POST /relay HTTP/1.1\r\nHost: bus\r\nContent-Length: 10\r\n\r\nfive!", cancellationToken);
        await begun.Task.WaitAsync(cancellationToken); // before, nobody has read the body

        connection.FinishSending();

        await WaitForAsync(2, cancellationToken);
        AssertEnd(AuditKind.Aborted, "ESB-HTTP-ABORTED");
    }

    [Test]
    public async Task Request_that_is_refused_at_once_leaves_only_that(CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync();
        await StartAsync(backend.Url, more: """ , "accept": ["text/xml"] """);

        using var response = await _bus.PostAsync("/relay", "{}", "application/json", cancellationToken);

        await AssertProblemAsync(response, HttpStatusCode.UnsupportedMediaType, "ESB-HTTP-CONTENTTYPE", cancellationToken);
        Assert.That(
            _bus.Audit.Facts.Single(),
            Has.Property(nameof(AuditFact.Kind))
                .EqualTo(AuditKind.Refused)
                .And.Property(nameof(AuditFact.Code))
                .EqualTo("ESB-HTTP-CONTENTTYPE")
        );
        Assert.That(backend.Requests, Is.Empty);
    }

    [TestCase("<order><symbol>IBM</symbol></order>", "ibm"), TestCase("<order><symbol>HAL</symbol></order>", "backend")]
    public async Task Fact_says_which_way_was_taken(string order, string outside, CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync();
        await StartAsync(backend.Url, more: """ , "routes": [{ "if": { "xpath": "/order/symbol = 'IBM'" }, "relay": "ibm" }] """);

        using var response = await _bus.PostAsync("/relay", order, cancellationToken: cancellationToken);
        await WaitForAsync(2, cancellationToken);

        Assert.That(_bus.Audit.Facts.Select(fact => fact.Fields["relayed-to"]), Is.EqualTo(new[] { outside, outside }));
        Assert.That(backend.Requests.Single(), Does.EndWith($"\n\n{order}"));
    }

    [Test]
    public async Task Repetitions_with_a_key_are_one_message_and_a_key_that_is_none_goes_on(CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync();
        await StartAsync(backend.Url);

        var first = await AskAsync("K-1", cancellationToken);
        var again = await AskAsync("K-1", cancellationToken);
        var other = await AskAsync("K-2", cancellationToken);
        await AskAsync(new string('x', 200), cancellationToken);

        Assert.That(again, Is.EqualTo(first));
        Assert.That(other, Is.Not.EqualTo(first));
        Assert.That(backend.Requests, Has.Count.EqualTo(4).And.All.Contains("Idempotency-Key: "));
    }

    private IEnumerable<string> Warnings() => _bus.Log.All.Where(line => line.Level > LogLevel.Information).Select(line => line.Text);

    private Task WaitForAsync(int facts, CancellationToken cancellationToken) =>
        Eventually.HoldsAsync(() => _bus.Audit.Facts.Count == facts, $"{facts} facts", cancellationToken);

    private void AssertEnd(AuditKind kind, string code)
    {
        var end = _bus.Audit.Facts[^1];
        Assert.That(_bus.Audit.Kinds, Is.EqualTo(new[] { AuditKind.Received, kind }));
        Assert.That(
            (end.Code, end.Reason is { Length: > 0 }, end.Endpoint, end.MessageId),
            Is.EqualTo((code, true, "relay", _bus.Audit.Facts[0].MessageId))
        );
    }

    private async Task<string> AskAsync(string key, CancellationToken cancellationToken)
    {
        using var request = new HttpRequestMessage(HttpMethod.Post, "/relay") { Content = new StringContent("<order/>") };
        request.Headers.Add("Idempotency-Key", key);
        using var response = await _bus.Client.SendAsync(request, cancellationToken);
        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.OK));
        return response.Headers.GetValues("Esb-Message-Id").Single();
    }

    private Task StartAsync(string url, string audit = """ , "audit": "headers" """, string more = "") =>
        _bus.StartAsync(
            $$"""
            "relay": { "type": "http-inbound", "path": "/relay", "methods": ["GET", "POST", "PUT"], "party": "shop", "relay": "backend" {{audit}} {{more}} },
            "ibm": { "type": "http-outbound", "url": "{{url}}", "poolSize": 10 },
            "backend": { "type": "http-outbound", "url": "{{url}}", "poolSize": 10 }
            """,
            """ , "parties": { "shop": {} } """
        );
}
