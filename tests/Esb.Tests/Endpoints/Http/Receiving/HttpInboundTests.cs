using System.Diagnostics;
using System.Net;
using System.Text.Json;
using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Tests.Fakes;
using Microsoft.Extensions.Logging;
using NSubstitute;

namespace Esb.Tests.Endpoints.Http.Receiving;

public sealed class HttpInboundTests
{
    private const string OneWay = """ "orders": { "type": "http-inbound", "path": "/orders", "publish": "orders.new" } """;
    private const string Answering =
        """ "ask": { "type": "http-inbound", "path": "/ask", "methods": ["GET", "POST"], "process": "answer", "mode": "request-reply" } """;

    private HttpBus _bus = null!;

    [SetUp]
    public void CreateBus() => _bus = new HttpBus();

    [TearDown]
    public async Task StopBus() => await _bus.DisposeAsync();

    [Test, CancelAfter(30_000)]
    public async Task Endpoint_that_cannot_be_made_is_told_and_those_after_it_run(CancellationToken cancellationToken)
    {
        var file = Path.Combine(Path.GetTempPath(), $"esb-token-{Guid.NewGuid():N}");
        await File.WriteAllTextAsync(file, "secret", cancellationToken);
        _bus.Read(
            $$"""
            "passed-on": { "type": "http-inbound", "path": "/relay", "relay": "outside" },
            "outside": { "type": "http-outbound", "url": "http://127.0.0.1:1/", "authentication": { "type": "bearer", "file": "{{file}}" } },
            "orders": { "type": "http-inbound", "path": "/orders", "publish": "orders.new" }
            """
        );
        File.Delete(file); // after the check of the configuration

        await _bus.StartPartsAsync();

        using var response = await _bus.PostAsync("/orders", "<order/>", cancellationToken: cancellationToken);
        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.Accepted));
        Assert.That(_bus.Status.Single(endpoint => endpoint.Name == "passed-on").State, Is.EqualTo(EndpointState.Stopped));
    }

    [Test, CancelAfter(30_000)]
    public async Task Published_message_is_accepted_with_its_id(CancellationToken cancellationToken)
    {
        await _bus.StartAsync(OneWay);

        using var response = await _bus.PostAsync("/orders", "<order/>", cancellationToken: cancellationToken);

        var answer = await JsonOf(response, cancellationToken);
        var published = _bus.Published.Single();
        Assert.Multiple(() =>
        {
            Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.Accepted));
            Assert.That(answer.GetProperty("messageId").GetGuid(), Is.EqualTo(published.Id));
            Assert.That(answer.TryGetProperty("durable", out _), Is.False);
            Assert.That(response.Headers.GetValues("Esb-Message-Id"), Is.EqualTo(new[] { published.Id.ToString() }));
            Assert.That(published.Body.ReadText(), Is.EqualTo("<order/>"));
            Assert.That(published.ContentType, Is.EqualTo("application/xml; charset=utf-8"));
            Assert.That(
                _bus.Audit.Facts.Single(),
                Has.Property(nameof(AuditFact.Kind)).EqualTo(AuditKind.Received).And.Property(nameof(AuditFact.Endpoint)).EqualTo("orders")
            );
        });
    }

    [Test, CancelAfter(30_000)]
    public async Task Sender_is_told_when_what_was_accepted_is_not_durable(CancellationToken cancellationToken)
    {
        _bus.Transport.IsDurable.Returns(false);
        await _bus.StartAsync(OneWay);

        using var response = await _bus.PostAsync("/orders", "<order/>", cancellationToken: cancellationToken);

        Assert.That((await JsonOf(response, cancellationToken)).GetProperty("durable").GetBoolean(), Is.False);
    }

    [Test, CancelAfter(30_000)]
    public async Task Message_at_the_end_of_the_process_is_the_answer(CancellationToken cancellationToken)
    {
        _bus.With(
            "answer",
            (context, _) =>
            {
                context.Message = context.Message with
                {
                    Body = MessageBody.FromText("{}"),
                    ContentType = "application/json",
                    Headers = MessageHeaders.From([new("x-a", "ä"), new("y", "no"), new("esb-status", "299")]),
                };
                return ValueTask.CompletedTask;
            }
        );
        await _bus.StartAsync(Answering);

        using var response = await _bus.PostAsync("/ask", "<q/>", cancellationToken: cancellationToken);

        Assert.Multiple(() =>
        {
            Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.OK));
            Assert.That(response.Content.Headers.ContentType!.ToString(), Is.EqualTo("application/json"));
            Assert.That(response.Content.Headers.ContentLength, Is.EqualTo(2));
            Assert.That(response.Headers.Contains("x-a"), Is.True);
            Assert.That(response.Headers.Contains("y"), Is.False);
            Assert.That(response.Headers.Contains("esb-status"), Is.False);
            Assert.That(response.Headers.Server, Is.Empty);
        });
    }

    [
        TestCase(201, HttpStatusCode.Created),
        TestCase(404.0, HttpStatusCode.NotFound),
        TestCase("418", (HttpStatusCode)418),
        CancelAfter(30_000)
    ]
    public async Task Status_of_the_answer_is_what_the_process_asks_for(
        object status,
        HttpStatusCode expected,
        CancellationToken cancellationToken
    )
    {
        _bus.With("answer", Setting(status));
        await _bus.StartAsync(Answering);

        using var response = await _bus.Client.GetAsync("/ask", cancellationToken);

        Assert.That(response.StatusCode, Is.EqualTo(expected));
    }

    [Test, CancelAfter(30_000)]
    public async Task Status_that_is_none_is_a_failure_of_the_process(CancellationToken cancellationToken)
    {
        _bus.With("answer", Setting("teapot"));
        await _bus.StartAsync(Answering);

        using var response = await _bus.Client.GetAsync("/ask", cancellationToken);

        await AssertProblemAsync(response, HttpStatusCode.InternalServerError, "ESB-PROC-STATUS", cancellationToken);
    }

    [TestCase("one-way", HttpStatusCode.Accepted), TestCase("request-reply", HttpStatusCode.NoContent), CancelAfter(30_000)]
    public async Task Message_that_nobody_wants_is_no_failure(string mode, HttpStatusCode expected, CancellationToken cancellationToken)
    {
        _bus.With(
            "filter",
            (context, _) =>
            {
                context.Outcome = ProcessOutcome.Filtered;
                return ValueTask.CompletedTask;
            }
        );
        await _bus.StartAsync($$""" "in": { "type": "http-inbound", "path": "/in", "process": "filter", "mode": "{{mode}}" } """);

        using var response = await _bus.PostAsync("/in", "<order/>", cancellationToken: cancellationToken);

        Assert.That(response.StatusCode, Is.EqualTo(expected));
        Assert.That(_bus.Audit.Kinds, Is.EqualTo(new[] { AuditKind.Received, AuditKind.Filtered }));
    }

    [Test, CancelAfter(30_000)]
    public async Task Reply_to_a_published_request_is_the_answer(CancellationToken cancellationToken)
    {
        _bus.Publisher.RequestAsync(default!, default!, default, default!, default)
            .ReturnsForAnyArgs(call =>
            {
                call.Arg<MessageContext>().Message = Some.Message("rows", contentType: "text/plain");
                return ValueTask.CompletedTask;
            });
        await _bus.StartAsync(
            """ "in": { "type": "http-inbound", "path": "/in", "publish": "orders.query", "mode": "request-reply", "timeout": "7s" } """
        );

        using var response = await _bus.PostAsync("/in", "?", cancellationToken: cancellationToken);

        Assert.That(await response.Content.ReadAsStringAsync(cancellationToken), Is.EqualTo("rows"));
        await _bus
            .Publisher.Received()
            .RequestAsync(Arg.Any<MessageContext>(), new("orders.query"), TimeSpan.FromSeconds(7), "in", Arg.Any<CancellationToken>());
    }

    [Test, CancelAfter(30_000)]
    public async Task Trace_of_the_caller_goes_on_in_one_span_named_by_method_and_path(CancellationToken cancellationToken)
    {
        var spans = new List<Activity>();
        using var listener = new ActivityListener
        {
            ShouldListenTo = source => source.Name == "Microsoft.AspNetCore",
            Sample = (ref ActivityCreationOptions<ActivityContext> _) => ActivitySamplingResult.AllData,
            ActivityStopped = span =>
            {
                lock (spans)
                    spans.Add(span);
            },
        };
        ActivitySource.AddActivityListener(listener);
        await _bus.StartAsync(OneWay);
        using var request = new HttpRequestMessage(HttpMethod.Post, "/orders")
        {
            Headers = { { "traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" } },
        };

        using var response = await _bus.Client.SendAsync(request, cancellationToken);

        await Eventually.HoldsAsync(() => spans.Count == 1, "the span of the request", cancellationToken);
        Assert.Multiple(() =>
        {
            Assert.That(spans[0].DisplayName, Is.EqualTo("POST /orders"));
            Assert.That(spans[0].TraceId.ToHexString(), Is.EqualTo("0af7651916cd43dd8448eb211c80319c"));
            Assert.That(_bus.Audit.Facts[0].TraceId, Is.EqualTo("0af7651916cd43dd8448eb211c80319c"));
        });
    }

    [Test, CancelAfter(30_000)]
    public async Task Request_under_way_is_finished_when_the_bus_stops(CancellationToken cancellationToken)
    {
        var entered = new TaskCompletionSource();
        var leave = new TaskCompletionSource();
        _bus.With(
            "answer",
            async (_, token) =>
            {
                entered.SetResult();
                await leave.Task.WaitAsync(token);
            }
        );
        await _bus.StartAsync(Answering);
        var request = _bus.PostAsync("/ask", "<q/>", cancellationToken: cancellationToken);
        await entered.Task.WaitAsync(cancellationToken);

        var stop = _bus.StopAsync(cancellationToken);
        Assert.That(stop.IsCompleted, Is.False);
        leave.SetResult();
        await stop;

        using var response = await request;
        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.OK));
        Assert.That(() => _bus.Client.GetAsync("/ask", cancellationToken), Throws.InstanceOf<HttpRequestException>());
    }

    [Test, CancelAfter(30_000)]
    public async Task Request_that_does_not_finish_is_aborted_when_the_time_to_stop_is_up(CancellationToken cancellationToken)
    {
        var entered = new TaskCompletionSource();
        _bus.With(
            "stuck",
            async (_, token) =>
            {
                entered.SetResult();
                await Task.Delay(Timeout.Infinite, token);
            }
        );
        await _bus.StartAsync(""" "in": { "type": "http-inbound", "path": "/in", "process": "stuck" } """);
        var request = _bus.PostAsync("/in", "<order/>", cancellationToken: cancellationToken);
        await entered.Task.WaitAsync(cancellationToken);

        using var timeIsUp = new CancellationTokenSource(100);

        await Task.WhenAny(_bus.StopAsync(timeIsUp.Token)); // it may or may not see its time run out

        var answer = await request.ContinueWith(
            task => task.IsCompletedSuccessfully ? task.Result.StatusCode : HttpStatusCode.ServiceUnavailable,
            TaskScheduler.Default
        );
        Assert.That(answer, Is.EqualTo(HttpStatusCode.ServiceUnavailable), "told to come back, or cut off");
        Assert.That(_bus.Log.All.Where(line => line.Level == LogLevel.Error), Is.Empty);
        await Eventually.HoldsAsync(() => _bus.Audit.Kinds.Contains(AuditKind.Aborted), "the fact that it was aborted", cancellationToken);
    }

    [Test, CancelAfter(30_000)]
    public async Task Endpoint_that_is_not_enabled_is_not_there(CancellationToken cancellationToken)
    {
        await _bus.StartAsync(
            OneWay + """ , "off": { "type": "http-inbound", "path": "/off", "publish": "orders.new", "enabled": false } """
        );

        using var response = await _bus.PostAsync("/off", "<order/>", cancellationToken: cancellationToken);

        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.NotFound));
        Assert.That(
            _bus.Status.Select(status => (status.Name, status.Type, status.State)),
            Is.EqualTo(new[] { ("orders", "http-inbound", EndpointState.Running), ("off", "http-inbound", EndpointState.Disabled) })
        );
    }

    [Test, CancelAfter(30_000)]
    public async Task Messages_and_failures_are_counted(CancellationToken cancellationToken)
    {
        await _bus.StartAsync(
            """ "orders": { "type": "http-inbound", "path": "/orders", "publish": "orders.new", "accept": ["application/xml"] } """
        );

        await _bus.PostAsync("/orders", "<order/>", cancellationToken: cancellationToken);
        await _bus.PostAsync("/orders", "order", "text/plain", cancellationToken);

        var status = _bus.Status.Single();
        Assert.Multiple(() =>
        {
            Assert.That(status.Messages, Is.EqualTo(1));
            Assert.That(status.Failures, Is.EqualTo(1));
            Assert.That(status.InFlight, Is.Zero);
            Assert.That(status.LastMessageAt, Is.Not.Null);
        });
    }

    internal static async Task AssertProblemAsync(
        HttpResponseMessage response,
        HttpStatusCode status,
        string code,
        CancellationToken cancellationToken
    )
    {
        var text = await response.Content.ReadAsStringAsync(cancellationToken);
        Assert.That(response.StatusCode, Is.EqualTo(status), text);
        var problem = JsonDocument.Parse(text).RootElement;
        Assert.Multiple(() =>
        {
            Assert.That(response.Content.Headers.ContentType!.MediaType, Is.EqualTo("application/problem+json"));
            Assert.That(problem.GetProperty("status").GetInt32(), Is.EqualTo((int)status));
            Assert.That(problem.GetProperty("code").GetString(), Is.EqualTo(code));
            Assert.That(problem.GetProperty("detail").GetString(), Is.Not.Empty);
            Assert.That(problem.GetProperty("traceId").GetString(), Has.Length.EqualTo(32));
            Assert.That(text, Does.Not.Contain("   at ").And.Not.Contain("Exception"));
        });
    }

    private static MessageStep Setting(object status) =>
        (context, _) =>
        {
            context.SetProperty(MessageContext.StatusProperty, status);
            return ValueTask.CompletedTask;
        };

    internal static async Task<JsonElement> JsonOf(HttpResponseMessage response, CancellationToken cancellationToken) =>
        JsonDocument.Parse(await response.Content.ReadAsStringAsync(cancellationToken)).RootElement;
}
