using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Tests.Fakes;
using Microsoft.AspNetCore.Http;

namespace Esb.Tests.Endpoints.Http.Credentials;

/// <summary>Access tokens of an authorization server, by client credentials.</summary>
[FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class OAuthTests
{
    private readonly ManualTime _time = new();
    private HttpBus _bus = null!;
    private Backend _backend = null!;
    private Backend _tokens = null!;
    private int _given;
    private string _tokenAnswer = """{ "access_token": "token-N", "token_type": "Bearer", "expires_in": 3600 }""";
    private int _tokenStatus = StatusCodes.Status200OK;
    private string? _refused;

    [SetUp]
    public async Task StartServers()
    {
        _bus = new HttpBus { Time = _time };
        _bus.Variables["SECRET"] = "s/cret";
        _backend = await Backend.StartAsync(context =>
        {
            context.Response.StatusCode =
                context.Request.Headers.Authorization == _refused ? StatusCodes.Status401Unauthorized : StatusCodes.Status200OK;
            return Task.CompletedTask;
        });
        _tokens = await Backend.StartAsync(context =>
        {
            context.Response.StatusCode = _tokenStatus;
            return context.Response.WriteAsync(_tokenAnswer.Replace("token-N", $"token-{++_given}", StringComparison.Ordinal));
        });
    }

    [TearDown]
    public async Task StopServers()
    {
        await _bus.DisposeAsync();
        await _backend.DisposeAsync();
        await _tokens.DisposeAsync();
    }

    [Test, CancelAfter(30_000)]
    public async Task Token_is_requested_once_and_renewed_a_minute_before_its_end(CancellationToken cancellationToken)
    {
        await using var adapter = Create();
        var endpoint = adapter.CreateInstance();

        foreach (var pause in new[] { 0, 3539, 2 })
        {
            _time.Advance(TimeSpan.FromSeconds(pause));
            await SendAsync(endpoint, cancellationToken);
        }

        Assert.That(Shown(), Is.EqualTo(new[] { "Bearer token-1", "Bearer token-1", "Bearer token-2" }));
        Assert.That(_tokens.Requests, Has.Count.EqualTo(2));
        Assert.That(
            _tokens.Requests[0],
            Does.Contain("Authorization: Basic YnVzOnMlMkZjcmV0")
                .And.Contain("grant_type=client_credentials&scope=orders.read+orders.write")
        );
    }

    [Test, CancelAfter(30_000)]
    public async Task Request_refused_with_401_is_sent_once_more_with_a_new_token(CancellationToken cancellationToken)
    {
        await using var adapter = Create();
        _refused = "Bearer token-1";

        var answer = await SendAsync(adapter.CreateInstance(), cancellationToken);

        Assert.That(adapter.FailureOf(answer!), Is.Null);
        Assert.That(Shown(), Is.EqualTo(new[] { "Bearer token-1", "Bearer token-2" }));
    }

    [Test, CancelAfter(30_000)]
    public async Task Senders_that_start_together_share_one_request_for_a_token(CancellationToken cancellationToken)
    {
        await using var adapter = Create();

        await Task.WhenAll(Enumerable.Range(0, 20).Select(_ => SendAsync(adapter.CreateInstance(), cancellationToken)));

        Assert.That(Shown(), Has.Length.EqualTo(20).And.All.EqualTo("Bearer token-1"));
    }

    [
        TestCase(401, """{ "error": "invalid_client", "error_description": "s/cret" }""", "status 401, invalid_client"),
        TestCase(200, "<html/>", "status 200")
    ]
    [
        TestCase(200, """{ "access_token": "a\nb" }""", "status 200"),
        TestCase(200, """{ "access_token": "abc", "token_type": "mac" }""", "status 200"),
        TestCase(200, "[]", "status 200")
    ]
    [CancelAfter(30_000)]
    public async Task Refusal_is_an_outage_until_it_is_corrected(
        int status,
        string refusal,
        string detail,
        CancellationToken cancellationToken
    )
    {
        await using var adapter = Create();
        var endpoint = adapter.CreateInstance();
        var right = _tokenAnswer;
        (_tokenStatus, _tokenAnswer) = (status, refusal);

        var failure = Assert.ThrowsAsync<EndpointException>(() => SendAsync(endpoint, cancellationToken));
        (_tokenStatus, _tokenAnswer) = (StatusCodes.Status200OK, right);
        await SendAsync(endpoint, cancellationToken);

        Assert.That(
            (failure.Code, failure.IsOutage, failure.IsTransient, failure.IsUnsent),
            Is.EqualTo(("ESB-HTTP-TOKEN", true, true, true))
        );
        Assert.That(failure.Detail, Does.Contain(detail).And.Not.Contain("s/cret"));
        Assert.That(Shown(), Is.EqualTo(new[] { "Bearer token-2" }));
    }

    [Test, CancelAfter(30_000)]
    public async Task Token_that_cannot_be_renewed_serves_until_its_end(CancellationToken cancellationToken)
    {
        await using var adapter = Create();
        var endpoint = adapter.CreateInstance();
        await SendAsync(endpoint, cancellationToken);
        _tokenStatus = StatusCodes.Status503ServiceUnavailable;

        _time.Advance(TimeSpan.FromSeconds(3545));
        await SendAsync(endpoint, cancellationToken);
        _time.Advance(TimeSpan.FromSeconds(60));

        Assert.That(Assert.ThrowsAsync<EndpointException>(() => SendAsync(endpoint, cancellationToken)).Code, Is.EqualTo("ESB-HTTP-TOKEN"));
        Assert.That(Shown(), Is.EqualTo(new[] { "Bearer token-1", "Bearer token-1" }));
        Assert.That(_bus.Log.All.Select(line => line.Text), Has.One.Contains("could not be renewed"));
    }

    [Test, CancelAfter(30_000)]
    public async Task Relay_sends_the_token_and_gets_a_new_one_after_a_401(CancellationToken cancellationToken)
    {
        await _bus.StartAsync(
            $$"""
            "in": { "type": "http-inbound", "path": "/in", "relay": "out" }, {{Endpoint()}}
            """
        );
        _refused = "Bearer token-1";

        using var first = await _bus.PostAsync("/in", "<order/>", cancellationToken: cancellationToken);
        using var second = await _bus.PostAsync("/in", "<order/>", cancellationToken: cancellationToken);

        Assert.That(((int)first.StatusCode, (int)second.StatusCode), Is.EqualTo((401, 200)));
        Assert.That(Shown(), Is.EqualTo(new[] { "Bearer token-1", "Bearer token-2" }));
    }

    [Test]
    public void Token_address_in_clear_text_on_another_machine_is_refused()
    {
        _bus.Read(Endpoint("http://login.example/token"));

        Assert.That(
            _bus.Errors.All.Select(error => (error.Code, error.Path)),
            Is.EqualTo(new[] { ("ESB-CFG-INSECURE", "endpoints.out.authentication.tokenUrl") })
        );
    }

    private string Endpoint(string? tokenUrl = null) =>
        $$"""
        "out": { "type": "http-outbound", "url": "{{_backend.Url}}", "authentication": {
          "type": "oauth2", "tokenUrl": "{{tokenUrl
            ?? _tokens.Url}}", "clientId": "bus", "clientSecret": "${env:SECRET}", "scopes": ["orders.read", "orders.write"] } }
        """;

    private IOutboundAdapter Create()
    {
        _bus.Read(Endpoint());
        return OutboundEndpoints.Create(_bus, "out");
    }

    private async Task<EsbMessage?> SendAsync(IOutboundEndpoint endpoint, CancellationToken cancellationToken) =>
        await endpoint.SendAsync(EsbMessage.Create(MessageBody.FromText("body"), _time), cancellationToken);

    private string[] Shown()
    {
        const string header = "Authorization: ";
        return
        [
            .. _backend.Requests.Select(request =>
                request.Split('\n').Single(line => line.StartsWith(header, StringComparison.Ordinal))[header.Length..]
            ),
        ];
    }
}
