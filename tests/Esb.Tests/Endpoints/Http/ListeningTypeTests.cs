using System.Net;
using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;
using Esb.Delivery.Intake;
using Esb.Delivery.Intake.Overload;
using Esb.Endpoints.Http;
using Esb.Endpoints.Http.Access;
using Esb.Endpoints.Http.Listening;
using Esb.Endpoints.Http.Receiving;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Tests.Endpoints.Http;

/// <summary>A type of endpoint beside <c>http-inbound</c> that callers reach by HTTP: listeners, routes, access and limits know it without
/// knowing its name.</summary>
[CancelAfter(30_000)]
public sealed class ListeningTypeTests
{
    private const string Pinging = """ "ping": { "type": "ftp-inbound", "path": "/ping", "process": "any" """;

    private const string Key = "0123456789abcdef0123456789abcdef";

    private HttpBus _bus = null!;

    [SetUp]
    public void CreateBus() =>
        _bus = new HttpBus
        {
            Types = services => services.AddEndpointType<PingType, PingConfig>("ftp-inbound", "Answers."),
            Variables = { ["KEY"] = Key },
        }.With("any", (_, _) => ValueTask.CompletedTask);

    [TearDown]
    public async Task StopBus() => await _bus.DisposeAsync();

    [Test]
    public async Task Type_is_reached_on_its_listener_and_takes_the_place_of_the_one_that_is_only_designed(
        CancellationToken cancellationToken
    )
    {
        await _bus.StartAsync($"{Pinging} }}");

        using var answer = await _bus.PostAsync("/ping", "<ping/>", cancellationToken: cancellationToken);
        using var nowhere = await _bus.PostAsync("/pong", "<ping/>", cancellationToken: cancellationToken);

        Assert.That(
            (await answer.Content.ReadAsStringAsync(cancellationToken), nowhere.StatusCode),
            Is.EqualTo(("pong", HttpStatusCode.NotFound))
        );
        Assert.That(_bus.Status.Single().Type, Is.EqualTo("ftp-inbound"));
    }

    [Test]
    public async Task Its_callers_prove_who_they_are(CancellationToken cancellationToken)
    {
        await _bus.StartAsync(
            $$"""{{Pinging}}, "authentication": ["api-key"] }""",
            """ , "parties": { "shop": { "apiKeys": ["${env:KEY}"] } } """
        );

        using var stranger = await _bus.PostAsync("/ping", "<ping/>", cancellationToken: cancellationToken);
        using var request = new HttpRequestMessage(HttpMethod.Post, "/ping")
        {
            Headers = { { "X-Api-Key", Key } },
            Content = new StringContent("<ping/>"),
        };
        using var shop = await _bus.Client.SendAsync(request, cancellationToken);

        Assert.That((stranger.StatusCode, shop.StatusCode), Is.EqualTo((HttpStatusCode.Unauthorized, HttpStatusCode.OK)));
    }

    [TestCase(""" "path": "/in" """, "", "ESB-CFG-ROUTE endpoints.ping.path")]
    [TestCase(
        """ "path": "/ping", "authentication": ["certificate"] """,
        """ , "parties": { "p": {} } """,
        "ESB-CFG-ACCESS endpoints.ping.authentication"
    )]
    [TestCase(
        """ "path": "/ping", "authentication": ["api-key"] """,
        """ , "parties": { "p": { "apiKeys": ["${env:KEY}"] } }, "listeners": { "public": { "url": "http://0.0.0.0:8080" } } """,
        "ESB-CFG-INSECURE listeners.public.url"
    )]
    public void Its_mistakes_are_found_as_those_of_any_other(string settings, string more, string expected)
    {
        _bus.Read(
            $$""" "in": { "type": "http-inbound", "path": "/in", "process": "any" }, "ping": { "type": "ftp-inbound", "process": "any", {{settings}} } """,
            more
        );

        Assert.That(_bus.Errors.All.Select(error => $"{error.Code} {error.Path}"), Does.Contain(expected));
    }

    private sealed record PingConfig : ListeningEndpointConfig;

    private sealed class PingType : InboundEndpointType<PingConfig>
    {
        protected override CreateInbound? Compile(PingConfig settings, ConfigErrors errors) =>
            (services, intake) =>
                new HttpInboundEndpoint(
                    settings,
                    services.GetRequiredService<HttpListeners>().RouteOf(settings.Name),
                    new Pong(),
                    services.GetRequiredService<AccessFactory>().Create(settings, intake),
                    services.GetRequiredService<Admissions>().Of(settings, intake.NeedsTopics),
                    services.GetRequiredService<IntakeStates>().Of(settings.Name),
                    NullLogger<HttpInboundEndpoint>.Instance
                );
    }

    private sealed class Pong : IHttpExchange
    {
        public Task HandleAsync(HttpContext context, CancellationToken aborting) => context.Response.WriteAsync("pong", aborting);
    }
}
