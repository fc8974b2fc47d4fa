using System.Net;
using System.Security.Cryptography;
using System.Text;
using Esb.Core.Configuration;
using Esb.Tests.Fakes;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;
using static Esb.Tests.Endpoints.Http.Receiving.HttpInboundTests;

namespace Esb.Tests.Endpoints.Http.Relaying;

public sealed class RelayTests
{
    private HttpBus _bus = null!;

    [SetUp]
    public void CreateBus() => _bus = new HttpBus();

    [TearDown]
    public async Task StopBus() => await _bus.DisposeAsync();

    [Test, CancelAfter(30_000)]
    public async Task Request_and_answer_pass_as_they_are(CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync(context =>
        {
            context.Response.StatusCode = StatusCodes.Status404NotFound;
            context.Response.Headers.SetCookie = new(["a=1", "b=2"]);
            context.Response.Headers["Cache-Control"] = "no-store";
            context.Response.Headers["Esb-Key"] = "no";
            context.Response.ContentType = "text/plain";
            return context.Response.WriteAsync("not here");
        });
        await StartAsync(backend.Url);
        using var request = new HttpRequestMessage(HttpMethod.Put, "/relay?a=1&b=%20")
        {
            Content = new StringContent("<order/>", Encoding.UTF8, "application/xml"),
        };
        request.Headers.TryAddWithoutValidation("Authorization", "Bearer token");
        request.Headers.TryAddWithoutValidation("Esb-Attempt", "3");
        request.Headers.TryAddWithoutValidation("Accept-Language", "de");

        using var response = await _bus.Client.SendAsync(request, cancellationToken);

        var received = backend.Requests.Single();
        Assert.Multiple(() =>
        {
            Assert.That(received, Does.StartWith("PUT /backend?a=1&b=%20\n").And.EndWith("\n\n<order/>"));
            Assert.That(
                received,
                Does.Contain("Authorization: Bearer token")
                    .And.Contain("Accept-Language: de")
                    .And.Contain("Content-Type: application/xml; charset=utf-8")
                    .And.Contain("Content-Length: 8")
            );
            Assert.That(received, Does.Not.Contain("Esb-Attempt").IgnoreCase);
            Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.NotFound));
            Assert.That(response.Headers.GetValues("Set-Cookie"), Is.EqualTo(new[] { "a=1", "b=2" }));
            Assert.That(response.Headers.CacheControl!.NoStore, Is.True);
            Assert.That(response.Headers.Contains("Esb-Key"), Is.False);
            Assert.That(response.Content.Headers.ContentType!.MediaType, Is.EqualTo("text/plain"));
        });
        Assert.That(await response.Content.ReadAsStringAsync(cancellationToken), Is.EqualTo("not here"));
        Assert.That(_bus.Audit.Facts, Is.Empty);
        Assert.That(_bus.Status[0].Messages, Is.EqualTo(1));
    }

    [Test, Property("Case", "HDR-09"), CancelAfter(30_000)]
    public async Task Header_that_the_connection_names_does_not_pass(CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync(context =>
        {
            context.Response.Headers.Connection = "X-Back";
            context.Response.Headers["X-Back"] = "1";
            return Task.CompletedTask;
        });
        await StartAsync(backend.Url);
        using var request = new HttpRequestMessage(HttpMethod.Post, "/relay") { Content = new StringContent("body") };
        foreach (
            var (name, value) in new[]
            {
                ("Connection", "X-Hop"),
                ("X-Hop", "1"),
                ("TE", "trailers"),
                ("Keep-Alive", "9"),
                ("Proxy-Authorization", "secret"),
                ("X-End", "2"),
            }
        )
            request.Headers.TryAddWithoutValidation(name, value);

        using var response = await _bus.Client.SendAsync(request, cancellationToken);

        Assert.That(
            backend.Requests.Single(),
            Does.Contain("X-End")
                .And.Contain("TE: trailers")
                .And.Not.Contain("X-Hop")
                .And.Not.Contain("Keep-Alive")
                .And.Not.Contain("Proxy-")
        );
        Assert.That(response.Headers.Contains("X-Back"), Is.False);
    }

    [Test, CancelAfter(30_000)]
    public async Task Only_headers_of_the_list_pass_where_there_is_one(CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync();
        await StartAsync(backend.Url, inbound: """ , "headers": ["x-*"] """);
        using var request = new HttpRequestMessage(HttpMethod.Post, "/relay")
        {
            Content = new StringContent("body"),
            Headers = { { "X-A", "1" }, { "Y", "2" } },
        };

        using var response = await _bus.Client.SendAsync(request, cancellationToken);

        Assert.That(backend.Requests.Single(), Does.Contain("X-A: 1").And.Contain("Content-Type: text/plain").And.Not.Contain("Y: 2"));
    }

    [Test, CancelAfter(30_000)]
    public async Task Trace_goes_on_to_the_outside(CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync();
        await StartAsync(backend.Url);
        using var request = new HttpRequestMessage(HttpMethod.Post, "/relay")
        {
            Headers = { { "traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" } },
        };

        using var response = await _bus.Client.SendAsync(request, cancellationToken);

        Assert.That(
            backend.Requests.Single(),
            Does.Contain("traceparent: 00-0af7651916cd43dd8448eb211c80319c-").And.Not.Contain("b7ad6b7169203331")
        );
    }

    [TestCase(true), TestCase(false), CancelAfter(30_000)]
    public async Task Large_body_comes_back_byte_for_byte(bool isChunked, CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync();
        await StartAsync(backend.Url);
        var body = RandomNumberGenerator.GetBytes(5_000_000);
        using var request = new HttpRequestMessage(HttpMethod.Post, "/relay")
        {
            Content = new ByteArrayContent(body),
            Headers = { TransferEncodingChunked = isChunked },
        };

        using var response = await _bus.Client.SendAsync(request, cancellationToken);

        Assert.That(await response.Content.ReadAsByteArrayAsync(cancellationToken), Is.EqualTo(body));
    }

    [Test, CancelAfter(30_000)]
    public async Task Answer_is_passed_on_while_it_comes(CancellationToken cancellationToken)
    {
        var more = new TaskCompletionSource();
        await using var backend = await Backend.StartAsync(async context =>
        {
            await context.Response.WriteAsync("first");
            await context.Response.Body.FlushAsync();
            await more.Task;
            await context.Response.WriteAsync("second");
        });
        await StartAsync(backend.Url);

        using var response = await _bus.Client.GetAsync("/relay", HttpCompletionOption.ResponseHeadersRead, cancellationToken);
        await using var stream = await response.Content.ReadAsStreamAsync(cancellationToken);
        var buffer = new byte[100];
        var first = Encoding.UTF8.GetString(buffer, 0, await stream.ReadAsync(buffer, cancellationToken));
        more.SetResult();
        var rest = await new StreamReader(stream).ReadToEndAsync(cancellationToken);

        Assert.That((first, rest), Is.EqualTo(("first", "second")));
    }

    [Test, CancelAfter(30_000)]
    public async Task Outside_that_cannot_be_reached_is_a_bad_gateway(CancellationToken cancellationToken)
    {
        await StartAsync($"http://127.0.0.1:{FreePorts.Next()}/");

        using var response = await _bus.PostAsync("/relay", "<order/>", cancellationToken: cancellationToken);

        await AssertProblemAsync(response, HttpStatusCode.BadGateway, "ESB-HTTP-UNREACHABLE", cancellationToken);
        Assert.That(_bus.Status[0].Failures, Is.EqualTo(1));
    }

    [Test, CancelAfter(30_000)]
    public async Task Outside_that_hangs_up_is_a_bad_gateway(CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync(context =>
        {
            context.Abort();
            return Task.CompletedTask;
        });
        await StartAsync(backend.Url);

        using var response = await _bus.PostAsync("/relay", "<order/>", cancellationToken: cancellationToken);

        await AssertProblemAsync(response, HttpStatusCode.BadGateway, "ESB-HTTP-LOST", cancellationToken);
    }

    [Test, CancelAfter(30_000)]
    public async Task Answer_that_breaks_off_is_broken_off(CancellationToken cancellationToken)
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

        Assert.That(() => response.Content.ReadAsStringAsync(cancellationToken), Throws.InstanceOf<HttpRequestException>());
        Assert.That(_bus.Log.All.Where(line => line.Level > LogLevel.Information), Is.Empty);
    }

    [Test, CancelAfter(10_000)]
    public async Task Outside_that_does_not_answer_in_time_is_a_gateway_time_out(CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync(context => Task.Delay(Timeout.Infinite, context.RequestAborted));
        await StartAsync(backend.Url, """ , "timeout": "200ms" """);

        using var response = await _bus.PostAsync("/relay", "<order/>", cancellationToken: cancellationToken);

        await AssertProblemAsync(response, HttpStatusCode.GatewayTimeout, "ESB-HTTP-TIMEOUT", cancellationToken);
    }

    [Test, CancelAfter(30_000)]
    public async Task Relay_that_finds_no_place_is_told_to_come_back(CancellationToken cancellationToken)
    {
        var leave = new TaskCompletionSource();
        await using var backend = await Backend.StartAsync(_ => leave.Task);
        await StartAsync(backend.Url, """ , "poolSize": 1, "poolTimeout": "100ms" """);

        var first = _bus.PostAsync("/relay", "<order/>", cancellationToken: cancellationToken);
        await Eventually.HoldsAsync(() => backend.Requests.Count == 1, "the first request", cancellationToken);
        using var second = await _bus.PostAsync("/relay", "<order/>", cancellationToken: cancellationToken);
        leave.SetResult();

        await AssertProblemAsync(second, HttpStatusCode.ServiceUnavailable, "ESB-POOL-TIMEOUT", cancellationToken);
        Assert.That((await first).StatusCode, Is.EqualTo(HttpStatusCode.OK));
    }

    [TestCase(true), TestCase(false), CancelAfter(30_000)]
    public async Task Body_over_the_limit_of_a_relay_is_refused(bool isChunked, CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync();
        await StartAsync(backend.Url, inbound: """ , "maxBodySize": "1KiB" """);
        var head = isChunked ? "Transfer-Encoding: chunked\r\n\r\n800\r\n" : "Content-Length: 2048\r\n\r\n";

        var answer = await RawConnection.AskAsync(
            _bus.Port,
            $"POST /relay HTTP/1.1\r\nHost: bus\r\n{head}{new string('x', 2048)}",
            cancellationToken
        );

        Assert.That(answer, Does.StartWith("HTTP/1.1 413 ").And.Contain("ESB-BODY-SIZE"));
    }

    [Test, CancelAfter(30_000)]
    public async Task Outside_is_left_when_the_caller_hangs_up(CancellationToken cancellationToken)
    {
        var left = new TaskCompletionSource();
        await using var backend = await Backend.StartAsync(async context =>
        {
            context.RequestAborted.Register(left.SetResult);
            await left.Task;
        });
        await StartAsync(backend.Url);
        using var connection = await RawConnection.OpenAsync(_bus.Port, cancellationToken);
        await connection.WriteAsync("GET /relay HTTP/1.1\r\nHost: bus\r\n\r\n", cancellationToken);
        await Eventually.HoldsAsync(() => backend.Requests.Count == 1, "the request", cancellationToken);

        connection.Reset();

        await left.Task.WaitAsync(cancellationToken);
        await Eventually.HoldsAsync(() => _bus.Status[0].InFlight == 0, "the end of the relay", cancellationToken);
        Assert.That(_bus.Log.All.Where(line => line.Level > LogLevel.Information), Is.Empty);
    }

    [Test, CancelAfter(10_000)]
    public async Task Caller_that_hangs_up_within_its_body_is_no_failure_of_the_outside(CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync();
        await StartAsync(backend.Url);
        using var connection = await RawConnection.OpenAsync(_bus.Port, cancellationToken);
        await connection.WriteAsync("POST /relay HTTP/1.1\r\nHost: bus\r\nContent-Length: 10\r\n\r\nfive!", cancellationToken);
        await Eventually.HoldsAsync(() => _bus.Status[0].InFlight == 1, "the request", cancellationToken);

        connection.Reset();

        await Eventually.HoldsAsync(() => _bus.Status[0].InFlight == 0, "the end of the relay", cancellationToken);
        Assert.That(_bus.Log.All.Where(line => line.Level > LogLevel.Information), Is.Empty);
    }

    [Test]
    public void Relay_goes_to_an_outbound_endpoint_of_http()
    {
        _bus.Read(
            """ "a": { "type": "http-inbound", "path": "/a", "relay": "b" }, "b": { "type": "http-inbound", "path": "/b", "publish": "orders.new" } """
        );

        Assert.That(_bus.Errors.All.Single(), Has.Property(nameof(ConfigError.Path)).EqualTo("endpoints.a.relay"));
    }

    private Task StartAsync(string url, string outbound = """ , "poolSize": 10 """, string inbound = "") =>
        _bus.StartAsync(
            $$"""
            "relay": { "type": "http-inbound", "path": "/relay", "methods": ["GET", "POST", "PUT"], "relay": "backend" {{inbound}} },
            "backend": { "type": "http-outbound", "url": "{{url}}" {{outbound}} }
            """
        );
}
