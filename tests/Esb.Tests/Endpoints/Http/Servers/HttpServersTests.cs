using System.Net;
using System.Net.Sockets;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Endpoints.Http.Sending;
using Esb.Endpoints.Http.Servers;
using Esb.Tests.Fakes;
using Microsoft.AspNetCore.Http;

namespace Esb.Tests.Endpoints.Http.Servers;

/// <summary>Several servers of one http-outbound endpoint.</summary>
[FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class HttpServersTests
{
    private readonly ManualTime _time = new();
    private HttpBus _bus = null!;
    private Backend _one = null!;
    private Backend _other = null!;

    [SetUp]
    public async Task StartServers()
    {
        _bus = new HttpBus { Time = _time };
        _one = await Backend.StartAsync();
        _other = await Backend.StartAsync();
    }

    [TearDown]
    public async Task StopServers()
    {
        await _bus.DisposeAsync();
        await _one.DisposeAsync();
        await _other.DisposeAsync();
    }

    [TestCase("round-robin", 3, 3), TestCase("first", 6, 0), CancelAfter(30_000)]
    public async Task Messages_are_balanced_as_configured(string balance, int toOne, int toOther, CancellationToken cancellationToken)
    {
        await using var adapter = Create($$""" "balance": "{{balance}}" """, _one.Url, _other.Url);

        await SendAsync(adapter, count: 6, cancellationToken);

        Assert.That((_one.Requests.Count, _other.Requests.Count), Is.EqualTo((toOne, toOther)));
    }

    [Test, CancelAfter(30_000)]
    public async Task Path_and_query_of_a_message_are_the_same_at_every_server(CancellationToken cancellationToken)
    {
        await using var adapter = Create(""" "path": "/a", "query": { "q": "1 2" } """, _one.Url, _other.Url);

        await SendAsync(adapter, count: 2, cancellationToken);

        var lines = _one.Requests.Concat(_other.Requests).Select(request => request.Split('\n')[0]);
        Assert.That(lines, Is.EqualTo(new[] { "POST /backend/a?q=1%202", "POST /backend/a?q=1%202" }));
    }

    [Test, CancelAfter(30_000)]
    public async Task Unreachable_server_is_left_out_for_five_seconds(CancellationToken cancellationToken)
    {
        var gone = $"http://127.0.0.1:{FreePorts.Next()}/backend";
        await using var adapter = Create(""" "balance": "first" """, gone, _other.Url);

        await SendAsync(adapter, count: 2, cancellationToken);
        await using var back = await Backend.StartAsync(port: new Uri(gone).Port);
        await SendAsync(adapter, count: 1, cancellationToken);
        _time.Advance(TimeSpan.FromSeconds(6));
        await SendAsync(adapter, count: 1, cancellationToken);

        Assert.That((back.Requests.Count, _other.Requests.Count), Is.EqualTo((1, 3)));
    }

    [Test, CancelAfter(30_000)]
    public async Task Endpoint_whose_servers_are_all_unreachable_has_an_outage(CancellationToken cancellationToken)
    {
        await using var adapter = Create("", $"http://127.0.0.1:{FreePorts.Next()}/x", $"http://127.0.0.1:{FreePorts.Next()}/x");

        var failure = Assert.ThrowsAsync<EndpointException>(() => SendAsync(adapter, count: 1, cancellationToken));

        Assert.That((failure.Code, failure.IsOutage), Is.EqualTo(("ESB-HTTP-UNREACHABLE", true)));
    }

    [Test, CancelAfter(30_000)]
    public async Task Request_whose_connection_is_reset_as_it_is_opened_goes_to_the_next_server(CancellationToken cancellationToken)
    {
        var config = new HttpOutboundConfig
        {
            Name = "out",
            Urls = ["http://one/x", "http://other/x"],
            Balance = ServerBalance.First,
        };
        using var servers = new HttpServers(config, _time);
        using var client = new HttpMessageInvoker(new FailOverHandler(config.Name, servers, new ResettingServer("one")));
        using var request = new HttpRequestMessage(HttpMethod.Post, "http://one/x");

        using var answer = await client.SendAsync(request, cancellationToken);

        Assert.That((answer.StatusCode, request.RequestUri!.Host), Is.EqualTo((HttpStatusCode.OK, "other")));
    }

    [Test, CancelAfter(30_000)]
    public async Task Message_whose_answer_was_lost_goes_to_the_next_server_under_the_same_key(CancellationToken cancellationToken)
    {
        var heads = new List<string>();
        await using var silent = new RawBackend(
            async (connection, _, token) => heads.Add(await connection.ReadUntilAsync("\r\n\r\n", token))
        );
        await using var adapter = Create(""" "balance": "first" """, silent.Url, _other.Url);

        await SendAsync(adapter, count: 1, cancellationToken);

        var key = heads[0].Split("\r\n").Single(line => line.StartsWith("Idempotency-Key:", StringComparison.Ordinal));
        Assert.That(_other.Requests.Single(), Does.Contain(key));
    }

    [Test, CancelAfter(30_000)]
    public async Task Relay_passes_a_request_with_its_body_to_the_next_server_if_one_is_unreachable(CancellationToken cancellationToken)
    {
        await StartRelayAsync($"http://127.0.0.1:{FreePorts.Next()}/backend", _other.Url);

        using var answer = await _bus.PostAsync("/in", "<order/>", cancellationToken: cancellationToken);

        Assert.That((int)answer.StatusCode, Is.EqualTo(StatusCodes.Status200OK));
        Assert.That(_other.Requests.Single(), Does.EndWith("<order/>"));
    }

    [Test, CancelAfter(30_000)]
    public async Task Relay_does_not_repeat_a_request_with_a_body_after_a_lost_answer(CancellationToken cancellationToken)
    {
        await using var silent = new RawBackend(async (connection, _, token) => await connection.ReadUntilAsync("\r\n\r\n", token));
        await StartRelayAsync(silent.Url, _other.Url);

        using var posted = await _bus.PostAsync("/in", "<order/>", cancellationToken: cancellationToken);
        _time.Advance(TimeSpan.FromSeconds(6)); // the server is tried again
        using var read = await _bus.Client.GetAsync(new Uri("/in", UriKind.Relative), cancellationToken);

        Assert.That(((int)posted.StatusCode, (int)read.StatusCode), Is.EqualTo((502, 200)));
        Assert.That(_other.Requests.Single(), Does.StartWith("GET "));
    }

    [
        TestCase("\"https://a/x\", \"https://b/y\"", "ESB-CFG-URL endpoints.out.urls"),
        TestCase("\"https://a/x\", \"https://a/x\"", "ESB-CFG-URL endpoints.out.urls")
    ]
    [
        TestCase("\"https://a/x\", \"http://b/x\"", "ESB-CFG-INSECURE endpoints.out.urls", "ESB-CFG-URL endpoints.out.urls"),
        TestCase("\"https://a/x\", \"ftp://b/x\"", "ESB-CFG-URL endpoints.out.urls")
    ]
    public void Servers_that_differ_in_more_than_their_host_are_refused(string urls, params string[] expected)
    {
        _bus.Read($$""" "out": { "type": "http-outbound", "urls": [{{urls}}] } """);

        Assert.That(_bus.Errors.All.Select(error => $"{error.Code} {error.Path}"), Is.EqualTo(expected));
    }

    [Test]
    public void Endpoint_has_one_address_or_several()
    {
        _bus.Read(
            """ "out": { "type": "http-outbound", "url": "https://a/x", "urls": ["https://b/x"] }, "none": { "type": "http-outbound" } """
        );

        Assert.That(_bus.Errors.All.Select(error => error.Path), Is.EquivalentTo(new[] { "endpoints.out", "endpoints.none" }));
    }

    private IOutboundAdapter Create(string settings, params string[] urls)
    {
        _bus.Read(
            $$""" "out": { "type": "http-outbound", "urls": [{{ListOf(urls)}}]{{(settings.Length > 0 ? "," : "")}} {{settings}} } """
        );
        return OutboundEndpoints.Create(_bus, "out");
    }

    private Task StartRelayAsync(params string[] urls) =>
        _bus.StartAsync(
            $$"""
            "in": { "type": "http-inbound", "path": "/in", "methods": ["GET", "POST"], "relay": "out" },
            "out": { "type": "http-outbound", "urls": [{{ListOf(urls)}}], "balance": "first" }
            """
        );

    private static string ListOf(string[] urls) => string.Join(", ", urls.Select(url => $"\"{url}\""));

    private async Task SendAsync(IOutboundAdapter adapter, int count, CancellationToken cancellationToken)
    {
        var endpoint = adapter.CreateInstance();
        for (var number = 0; number < count; number++)
            await endpoint.SendAsync(EsbMessage.Create(MessageBody.FromText("body"), _time), cancellationToken);
    }

    // What the platform's client throws for a connection that is reset between being opened and being used.
    private sealed class ResettingServer(string host) : HttpMessageHandler
    {
        protected override Task<HttpResponseMessage> SendAsync(HttpRequestMessage request, CancellationToken cancellationToken) =>
            request.RequestUri!.Host == host
                ? Task.FromException<HttpResponseMessage>(new SocketException((int)SocketError.NotConnected))
                : Task.FromResult(new HttpResponseMessage(HttpStatusCode.OK));
    }
}
