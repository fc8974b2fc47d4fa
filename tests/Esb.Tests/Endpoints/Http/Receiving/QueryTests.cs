using System.Net;
using Esb.Core.Audit;
using static Esb.Tests.Endpoints.Http.Receiving.HttpInboundTests;

namespace Esb.Tests.Endpoints.Http.Receiving;

/// <summary>Parameters of the query that become headers of the message.</summary>
public sealed class QueryTests
{
    private const string Orders =
        """ "orders": { "type": "http-inbound", "path": "/orders", "methods": ["GET", "POST"], "publish": "orders.new", "query": { "x-customer": "customer", "x-since": "since" } } """;

    private HttpBus _bus = null!;

    [SetUp]
    public void CreateBus() => _bus = new HttpBus();

    [TearDown]
    public async Task StopBus() => await _bus.DisposeAsync();

    [Test, CancelAfter(30_000), Property("Case", "HTP-24")]
    public async Task Parameter_becomes_a_header_and_others_are_left_alone(CancellationToken cancellationToken)
    {
        await _bus.StartAsync(Orders);

        using var response = await _bus.Client.GetAsync(
            new Uri("/orders?customer=Caf%C3%A9+7&other=1&other=2", UriKind.Relative),
            cancellationToken
        );

        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.Accepted));
        Assert.That(_bus.Published.Single().Headers, Is.EqualTo(new[] { KeyValuePair.Create("x-customer", "Café 7") }));
    }

    [
        TestCase("customer=1&customer=2"),
        TestCase("customer=1&customer=1"),
        TestCase("Customer=1&cusTomer=2"),
        TestCase("customer&customer=2"),
        TestCase("since=a&customer=1&%63ustomer=2")
    ]
    [CancelAfter(30_000), Property("Case", "HTP-24")]
    public async Task Parameter_that_comes_twice_is_refused_whatever_its_spelling(string query, CancellationToken cancellationToken)
    {
        await _bus.StartAsync(Orders);

        using var response = await _bus.PostAsync($"/orders?{query}", "<order/>", cancellationToken: cancellationToken);

        var problem = await JsonOf(response, cancellationToken);
        Assert.That(
            (response.StatusCode, problem.GetProperty("code").GetString(), problem.GetProperty("detail").GetString()),
            Is.EqualTo((HttpStatusCode.BadRequest, "ESB-HTTP-DUPPARAM", "The parameter customer comes 2 times in the query."))
        );
        Assert.That(_bus.Published, Is.Empty);
        Assert.That((_bus.Audit.Facts.Single().Kind, _bus.Audit.Facts.Single().Code), Is.EqualTo((AuditKind.Refused, "ESB-HTTP-DUPPARAM")));
    }

    [Test, CancelAfter(30_000), Property("Case", "HDR-06")]
    public async Task Parameter_of_more_than_one_line_is_refused(CancellationToken cancellationToken)
    {
        await _bus.StartAsync(Orders);

        using var response = await _bus.PostAsync("/orders?customer=a%0D%0AX-Evil:b", "<order/>", cancellationToken: cancellationToken);

        Assert.That(
            (response.StatusCode, (await JsonOf(response, cancellationToken)).GetProperty("code").GetString()),
            Is.EqualTo((HttpStatusCode.BadRequest, "ESB-HDR-VALUE"))
        );
    }

    [TestCase("?customer=7", "7"), TestCase("", null), CancelAfter(30_000)]
    public async Task Header_of_a_parameter_is_never_that_of_the_caller(string query, string? expected, CancellationToken cancellationToken)
    {
        await _bus.StartAsync(Orders);
        using var request = new HttpRequestMessage(HttpMethod.Post, new Uri($"/orders{query}", UriKind.Relative));
        request.Headers.Add("X-Customer", "forged");

        using var response = await _bus.Client.SendAsync(request, cancellationToken);

        Assert.That(_bus.Published.Single().Headers["x-customer"], Is.EqualTo(expected));
    }

    [
        TestCase("""{ "x customer": "a" }""", "ESB-CFG-HEADER"),
        TestCase("""{ "esb-key": "a" }""", "ESB-CFG-HEADER"),
        TestCase("""{ "x-a": "" }""", "ESB-CFG-HEADER"),
        TestCase("""{ "x-a": "a", "X-A": "b" }""", "ESB-CFG-HEADER"),
        Property("Case", "HDR-01")
    ]
    public void Header_that_no_parameter_can_make_is_refused_at_the_start(string query, string code)
    {
        _bus.Read($$""" "orders": { "type": "http-inbound", "path": "/orders", "publish": "orders.new", "query": {{query}} } """);

        Assert.That(_bus.Errors.All.Select(error => (error.Code, error.Path)), Is.EqualTo(new[] { (code, "endpoints.orders.query") }));
    }

    [Test]
    public void Relay_takes_no_parameters()
    {
        _bus.Read(
            """ "in": { "type": "http-inbound", "path": "/in", "relay": "out", "query": { "x-a": "a" } }, "out": { "type": "http-outbound", "url": "http://localhost/" } """
        );

        Assert.That(
            _bus.Errors.All.Select(error => (error.Code, error.Path)),
            Is.EqualTo(new[] { ("ESB-CFG-VALUE", "endpoints.in.query") })
        );
    }
}
