using System.Net;
using System.Text;
using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Microsoft.Extensions.Logging;
using NSubstitute;
using NSubstitute.ExceptionExtensions;
using static Esb.Tests.Endpoints.Http.Receiving.HttpInboundTests;

namespace Esb.Tests.Endpoints.Http.Receiving;

/// <summary>Requests that carry an Idempotency-Key.</summary>
[CancelAfter(30_000)]
public sealed class IdempotencyTests
{
    private const string OneWay = """ "orders": { "type": "http-inbound", "path": "/orders", "publish": "orders.new" } """;
    private const string Answering =
        """ "ask": { "type": "http-inbound", "path": "/ask", "process": "answer", "mode": "request-reply" } """;

    private HttpBus _bus = null!;

    [SetUp]
    public void CreateBus() => _bus = new HttpBus();

    [TearDown]
    public async Task StopBus() => await _bus.DisposeAsync();

    [Test]
    public async Task Repetition_is_answered_as_the_first_was_and_published_once(CancellationToken cancellationToken)
    {
        await _bus.StartAsync(OneWay);

        using var first = await PostAsync("/orders", "k-1", "<order/>", cancellationToken);
        using var second = await PostAsync("/orders", "k-1", "<order/>", cancellationToken);

        Assert.Multiple(() =>
        {
            Assert.That((first.StatusCode, second.StatusCode), Is.EqualTo((HttpStatusCode.Accepted, HttpStatusCode.Accepted)));
            Assert.That(_bus.Published, Has.Count.EqualTo(1));
            Assert.That(
                Header(second, "Esb-Message-Id"),
                Is.EqualTo(_bus.Published[0].Id.ToString()).And.EqualTo(Header(first, "Esb-Message-Id"))
            );
            Assert.That(Header(first, "Idempotency-Replayed"), Is.Null);
            Assert.That(Header(second, "Idempotency-Replayed"), Is.EqualTo("true"));
            Assert.That(_bus.Audit.Kinds, Is.EqualTo(new[] { AuditKind.Received, AuditKind.Duplicate }));
            Assert.That(_bus.Audit.Facts.Select(fact => fact.MessageId).Distinct(), Has.Exactly(1).Items);
            Assert.That(_bus.Status[0].Failures, Is.Zero);
        });
        Assert.That(
            await second.Content.ReadAsStringAsync(cancellationToken),
            Is.EqualTo(await first.Content.ReadAsStringAsync(cancellationToken))
        );
    }

    [Test]
    public async Task Repetition_gets_status_headers_and_body_of_the_reply(CancellationToken cancellationToken)
    {
        var runs = 0;
        _bus.With(
            "answer",
            (context, _) =>
            {
                runs++;
                context.SetProperty("status", 201);
                context.Message = context.Message with
                {
                    Body = MessageBody.FromStream(new MemoryStream("ä"u8.ToArray())),
                    ContentType = "text/plain",
                    Headers = MessageHeaders.From([new("x-a", "ö")]),
                };
                return ValueTask.CompletedTask;
            }
        );
        await _bus.StartAsync(Answering);

        using var first = await PostAsync("/ask", "k-1", "?", cancellationToken);
        using var second = await PostAsync("/ask", "k-1", "?", cancellationToken);

        Assert.That(runs, Is.EqualTo(1));
        foreach (var response in new[] { first, second })
        {
            Assert.That(
                (
                    response.StatusCode,
                    response.Content.Headers.ContentType!.ToString(),
                    await response.Content.ReadAsStringAsync(cancellationToken)
                ),
                Is.EqualTo((HttpStatusCode.Created, "text/plain", "ä"))
            );
            Assert.That(response.Headers.Contains("x-a"), Is.True);
        }
    }

    [Test]
    public async Task Headers_that_get_the_name_of_another_are_joined_for_the_first_and_the_repetition(CancellationToken cancellationToken)
    {
        var runs = 0;
        _bus.With(
            "answer",
            (context, _) =>
            {
                runs++;
                context.Message = context.Message with { Headers = MessageHeaders.From([new("x-a", "one"), new("x-b", "two")]) };
                return ValueTask.CompletedTask;
            }
        );
        await _bus.StartAsync(
            """ "ask": { "type": "http-inbound", "path": "/ask", "process": "answer", "mode": "request-reply", "rewriteAnswerHeaders": { "rename": { "x-a": "x-b" } } } """
        );

        using var first = await PostAsync("/ask", "k-1", "?", cancellationToken);
        using var second = await PostAsync("/ask", "k-1", "?", cancellationToken);

        Assert.That((runs, first.StatusCode, second.StatusCode), Is.EqualTo((1, HttpStatusCode.OK, HttpStatusCode.OK)));
        Assert.That(new[] { Header(first, "x-b"), Header(second, "x-b") }, Is.All.EqualTo("one, two"));
    }

    [Test]
    public async Task Filtered_message_and_answer_without_a_body_are_remembered_too(CancellationToken cancellationToken)
    {
        _bus.With(
            "answer",
            (context, _) =>
            {
                context.Outcome = Core.Processes.ProcessOutcome.Filtered;
                return ValueTask.CompletedTask;
            }
        );
        await _bus.StartAsync(Answering);

        await PostAsync("/ask", "k-1", "?", cancellationToken);
        using var second = await PostAsync("/ask", "k-1", "?", cancellationToken);

        Assert.That((second.StatusCode, Header(second, "Idempotency-Replayed")), Is.EqualTo((HttpStatusCode.NoContent, "true")));
    }

    [TestCase(0), TestCase(129), Property("Case", "HTP-21")]
    public async Task Key_that_is_empty_or_too_long_is_refused(int length, CancellationToken cancellationToken)
    {
        await _bus.StartAsync(OneWay);

        using var response = await PostAsync("/orders", new string('k', length), "<order/>", cancellationToken);

        await AssertProblemAsync(response, HttpStatusCode.BadRequest, "ESB-HTTP-IDEMKEY", cancellationToken);
        Assert.That(
            _bus.Audit.Facts.Single(),
            Has.Property(nameof(AuditFact.Kind)).EqualTo(AuditKind.Refused).And.Property(nameof(AuditFact.Code)).EqualTo("ESB-HTTP-IDEMKEY")
        );
        Assert.That(_bus.Published, Is.Empty);
    }

    [
        TestCase("Idempotency-Key: kä\r\n"),
        TestCase("Idempotency-Key: a\tb\r\n"),
        TestCase("Idempotency-Key: a\r\nIdempotency-Key: a\r\n"),
        TestCase("idempotency-key:\r\n"),
        Property("Case", "HTP-21")
    ]
    public async Task Key_that_is_no_printable_ASCII_or_given_twice_is_refused(string header, CancellationToken cancellationToken)
    {
        await _bus.StartAsync(OneWay);
        var sent = Encoding.Latin1.GetString(Encoding.UTF8.GetBytes(header));

        var answer = await RawConnection.AskAsync(
            _bus.Port,
            $"POST /orders HTTP/1.1\r\nHost: bus\r\nConnection: close\r\nContent-Length: 1\r\n{sent}\r\nx",
            cancellationToken
        );

        Assert.That(answer, Does.StartWith("HTTP/1.1 400 ").And.Contain("ESB-HTTP-IDEMKEY"));
    }

    [Test, Property("Case", "HTP-21")]
    public async Task Longest_key_is_taken(CancellationToken cancellationToken)
    {
        await _bus.StartAsync(OneWay);

        using var response = await PostAsync("/orders", new string('~', 128), "<order/>", cancellationToken);

        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.Accepted));
    }

    [Test, Property("Case", "HTP-22")]
    public async Task Other_body_with_the_same_key_is_refused(CancellationToken cancellationToken)
    {
        await _bus.StartAsync(OneWay);
        await PostAsync("/orders", "k-1", "<order/>", cancellationToken);

        using var response = await PostAsync("/orders", "k-1", "<order />", cancellationToken);

        await AssertProblemAsync(response, HttpStatusCode.UnprocessableEntity, "ESB-HTTP-IDEMCONFLICT", cancellationToken);
        Assert.That(_bus.Published, Has.Count.EqualTo(1));
        Assert.That(_bus.Audit.Kinds, Is.EqualTo(new[] { AuditKind.Received, AuditKind.Refused }));
    }

    [Test, Property("Case", "HTP-23")]
    public async Task Repetition_while_the_first_is_running_is_told_to_come_back(CancellationToken cancellationToken)
    {
        var (entered, leave, runs) = (new TaskCompletionSource(), new TaskCompletionSource(), 0);
        _bus.With(
            "answer",
            async (_, token) =>
            {
                runs++;
                entered.TrySetResult();
                await leave.Task.WaitAsync(token);
            }
        );
        await _bus.StartAsync(Answering);
        var first = PostAsync("/ask", "k-1", "?", cancellationToken);
        await entered.Task.WaitAsync(cancellationToken);

        using var refused = await PostAsync("/ask", "k-1", "?", cancellationToken);
        leave.SetResult();
        using var answered = await first;
        using var repeated = await PostAsync("/ask", "k-1", "?", cancellationToken);

        await AssertProblemAsync(refused, HttpStatusCode.Conflict, "ESB-HTTP-IDEMRUNNING", cancellationToken);
        Assert.That(refused.Headers.RetryAfter!.Delta, Is.EqualTo(TimeSpan.FromSeconds(1)));
        Assert.That((answered.StatusCode, repeated.StatusCode, runs), Is.EqualTo((HttpStatusCode.OK, HttpStatusCode.OK, 1)));
    }

    [Test, Property("Case", "HTP-27")]
    public async Task Request_that_failed_may_be_repeated_and_has_the_same_id(CancellationToken cancellationToken)
    {
        var ids = new List<Guid>();
        _bus.With(
            "answer",
            (context, _) =>
            {
                ids.Add(context.NextPublishId("publish"));
                return ids.Count == 1
                    ? throw new EsbException("ESB-TOPIC-UNKNOWN", "Nobody can tell.", FaultKind.Unavailable)
                    : ValueTask.CompletedTask;
            }
        );
        await _bus.StartAsync(""" "orders": { "type": "http-inbound", "path": "/orders", "process": "answer" } """);

        using var unknown = await PostAsync("/orders", "k-1", "<order/>", cancellationToken);
        using var accepted = await PostAsync("/orders", "k-1", "<order/>", cancellationToken);

        await AssertProblemAsync(unknown, HttpStatusCode.ServiceUnavailable, "ESB-HTTP-UNKNOWN", cancellationToken);
        Assert.That(
            (accepted.StatusCode, Header(accepted, "Idempotency-Replayed")),
            Is.EqualTo((HttpStatusCode.Accepted, default(string)))
        );
        Assert.That(ids[1], Is.EqualTo(ids[0]));
    }

    [Test]
    public async Task Same_key_at_another_endpoint_is_another_request(CancellationToken cancellationToken)
    {
        await _bus.StartAsync(OneWay + """ , "returns": { "type": "http-inbound", "path": "/returns", "publish": "orders.back" } """);

        await PostAsync("/orders", "k-1", "<order/>", cancellationToken);
        using var other = await PostAsync("/returns", "k-1", "<other/>", cancellationToken);

        Assert.That(other.StatusCode, Is.EqualTo(HttpStatusCode.Accepted));
        Assert.That(_bus.Published.Select(message => message.Id).Distinct(), Has.Exactly(2).Items);
    }

    [Test]
    public async Task Endpoint_that_was_told_so_takes_no_notice_of_keys(CancellationToken cancellationToken)
    {
        await _bus.StartAsync(
            """ "orders": { "type": "http-inbound", "path": "/orders", "publish": "orders.new", "idempotency": false } """
        );

        await PostAsync("/orders", "k-1", "<order/>", cancellationToken);
        await PostAsync("/orders", "k-1", "<other/>", cancellationToken);

        Assert.That(_bus.Published, Has.Count.EqualTo(2));
    }

    [Test]
    public async Task Request_with_a_key_is_not_taken_while_the_store_is_away(CancellationToken cancellationToken)
    {
        _bus.Keys = Substitute.For<IIdempotencyKeys>();
        _bus.Keys.ClaimAsync(default!, default, default)
            .ThrowsAsyncForAnyArgs(new EsbException("ESB-STORE-AWAY", "The store cannot be reached.", FaultKind.Unavailable));
        await _bus.StartAsync(OneWay);

        using var keyed = await PostAsync("/orders", "k-1", "<order/>", cancellationToken);
        using var plain = await _bus.PostAsync("/orders", "<order/>", cancellationToken: cancellationToken);

        await AssertProblemAsync(keyed, HttpStatusCode.ServiceUnavailable, "ESB-STORE-AWAY", cancellationToken);
        Assert.That(plain.StatusCode, Is.EqualTo(HttpStatusCode.Accepted));
    }

    [Test]
    public async Task Sender_hears_that_its_request_was_done_also_when_that_could_not_be_remembered(CancellationToken cancellationToken)
    {
        var claim = new KeyClaim.Granted(new IdempotencyKey("orders", null, "k-1"), default, Guid.NewGuid());
        _bus.Keys = Substitute.For<IIdempotencyKeys>();
        _bus.Keys.ClaimAsync(default!, default, default).ReturnsForAnyArgs(claim);
        _bus.Keys.CompleteAsync(default!, default!, default)
            .ThrowsAsyncForAnyArgs(new EsbException("ESB-STORE-AWAY", "The store cannot be reached.", FaultKind.Unavailable));
        await _bus.StartAsync(OneWay);

        using var response = await PostAsync("/orders", "k-1", "<order/>", cancellationToken);

        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.Accepted));
        Assert.That(_bus.Log.All.Count(line => line.Level == LogLevel.Warning), Is.EqualTo(1));
    }

    [Test]
    public async Task Answer_that_was_too_large_to_keep_is_not_worked_on_again(CancellationToken cancellationToken)
    {
        var runs = 0;
        _bus.With(
            "answer",
            (context, _) =>
            {
                runs++;
                context.Message = context.Message with { Body = MessageBody.FromBytes(new byte[300_000]) };
                return ValueTask.CompletedTask;
            }
        );
        await _bus.StartAsync(Answering);

        using var first = await PostAsync("/ask", "k-1", "?", cancellationToken);
        using var second = await PostAsync("/ask", "k-1", "?", cancellationToken);

        Assert.That(first.Content.Headers.ContentLength, Is.EqualTo(300_000));
        await AssertProblemAsync(second, HttpStatusCode.Conflict, "ESB-HTTP-IDEMANSWER", cancellationToken);
        Assert.That(runs, Is.EqualTo(1));
    }

    [Test]
    public async Task Relay_passes_the_key_on_and_every_request(CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync();
        await _bus.StartAsync(
            $$""" "in": { "type": "http-inbound", "path": "/in", "relay": "out" }, "out": { "type": "http-outbound", "url": "{{backend.Url}}" } """
        );

        await PostAsync("/in", "k-1", "a", cancellationToken);
        await PostAsync("/in", "k-1", "b", cancellationToken);

        Assert.That(backend.Requests, Has.Count.EqualTo(2).And.All.Contain("Idempotency-Key: k-1"));
    }

    private static string? Header(HttpResponseMessage response, string name) =>
        response.Headers.TryGetValues(name, out var values) ? values.Single() : null;

    private async Task<HttpResponseMessage> PostAsync(string path, string key, string body, CancellationToken cancellationToken)
    {
        using var request = new HttpRequestMessage(HttpMethod.Post, path) { Content = new StringContent(body) };
        request.Headers.TryAddWithoutValidation("Idempotency-Key", key);
        return await _bus.Client.SendAsync(request, cancellationToken);
    }
}
