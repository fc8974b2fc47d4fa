using System.Net;
using Esb.Core.Processes;
using static Esb.Tests.Endpoints.Http.Receiving.HttpInboundTests;

namespace Esb.Tests.Endpoints.Http.Receiving;

/// <summary>Segments of paths and parameters of queries that become properties.</summary>
public sealed class PathSegmentTests
{
    private HttpBus _bus = null!;

    [SetUp]
    public void CreateBus() => _bus = new HttpBus();

    [TearDown]
    public async Task StopBus() => await _bus.DisposeAsync();

    [TestCase("/customers/42/orders/A%201", "path.id=42 path.order=A 1")]
    [TestCase("/customers/ü-%C3%A4/orders/x", "path.id=ü-ä path.order=x")]
    [TestCase("/customers/%0D%0A/orders/%7B", "path.id=\r\n path.order={")]
    [TestCase(
        "/customers/a%25b/orders/c+d?since=2026&q=%26%3D&q=2&Empty=",
        "path.id=a%b path.order=c+d query.Empty= query.q=&=,2 query.since=2026"
    )]
    [CancelAfter(30_000)]
    public async Task Segment_and_parameter_are_properties_of_the_message(
        string address,
        string expected,
        CancellationToken cancellationToken
    )
    {
        var seen = Remember(out var see, "path.id", "path.order", "query.Empty", "query.q", "query.since");
        await _bus.With("see", see).StartAsync(Inbound("in", "/customers/{id}/orders/{order}", "GET", "see"));

        using var response = await _bus.Client.GetAsync(new Uri(address, UriKind.Relative), cancellationToken);

        Assert.That((response.StatusCode, seen.SingleOrDefault()), Is.EqualTo((HttpStatusCode.Accepted, expected)));
    }

    [TestCase("GET", "/customers/new", "literal")]
    [TestCase("POST", "/customers/new", "post-one", Description = "no literal takes the method")]
    [TestCase("GET", "/customers/old", "one")]
    [TestCase("POST", "/customers/old", "post-one")]
    [TestCase("GET", "/customers/new/orders", "literal-orders")]
    [TestCase("GET", "/customers/newer/orders", "orders")]
    [TestCase("GET", "/customers/new/bills", "any", Description = "goes back to the placeholder where the literal leads nowhere")]
    [CancelAfter(30_000)]
    public async Task Literal_beats_a_placeholder_from_left_to_right(
        string method,
        string address,
        string expected,
        CancellationToken cancellationToken
    )
    {
        string[] names = ["literal", "one", "post-one", "literal-orders", "orders", "any"];
        var taken = new List<string>();
        foreach (var name in names)
            _bus.With(name, Take(name));
        await _bus.StartAsync(
            string.Join(
                ",",
                Inbound("one", "/customers/{id}", "GET", "one"),
                Inbound("any", "/customers/{id}/{what}", "GET", "any"),
                Inbound("post-one", "/customers/{key}", "POST", "post-one"),
                Inbound("orders", "/customers/{id}/orders", "GET", "orders"),
                Inbound("literal", "/customers/new", "GET", "literal"),
                Inbound("literal-orders", "/customers/new/orders", "GET", "literal-orders")
            )
        );
        using var request = new HttpRequestMessage(new HttpMethod(method), address);

        using var response = await _bus.Client.SendAsync(request, cancellationToken);

        Assert.That((response.StatusCode, string.Join(" ", taken)), Is.EqualTo((HttpStatusCode.Accepted, expected)));

        MessageStep Take(string name) =>
            (_, _) =>
            {
                taken.Add(name);
                return ValueTask.CompletedTask;
            };
    }

    [
        TestCase("/customers", HttpStatusCode.NotFound),
        TestCase("/customers/", HttpStatusCode.NotFound),
        TestCase("/customers/1/", HttpStatusCode.NotFound)
    ]
    [
        TestCase("/customers/1/2", HttpStatusCode.NotFound),
        TestCase("/Customers/1", HttpStatusCode.NotFound),
        TestCase("//customers/1", HttpStatusCode.NotFound)
    ]
    [
        TestCase("/customers/..%2F1", HttpStatusCode.BadRequest),
        TestCase("/customers/a%2Fb", HttpStatusCode.BadRequest),
        TestCase("/customers/%2e%2e", HttpStatusCode.BadRequest)
    ]
    [CancelAfter(30_000)]
    public async Task Path_that_does_not_fit_reaches_no_endpoint(
        string address,
        HttpStatusCode expected,
        CancellationToken cancellationToken
    )
    {
        var seen = Remember(out var see, "path.id");
        await _bus.With("see", see).StartAsync(Inbound("in", "/customers/{id}", "GET", "see"));

        var answer = await RawConnection.AskAsync(
            _bus.Port,
            $"GET {address} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
            cancellationToken
        );

        Assert.That(answer, Does.StartWith($"HTTP/1.1 {(int)expected} "));
        Assert.That(seen, Is.Empty);
    }

    [Test, CancelAfter(30_000)]
    public async Task Method_that_no_endpoint_of_the_path_takes_is_refused_with_those_that_are(CancellationToken cancellationToken)
    {
        var seen = Remember(out var see);
        await _bus.With("see", see)
            .StartAsync($"{Inbound("in", "/customers/{id}", "GET", "see")}, {Inbound("new", "/customers/new", "PUT", "see")}");

        using var response = await _bus.Client.DeleteAsync(new Uri("/customers/new", UriKind.Relative), cancellationToken);

        Assert.That(
            (response.StatusCode, string.Join(" ", response.Content.Headers.Allow.Order())),
            Is.EqualTo((HttpStatusCode.MethodNotAllowed, "GET PUT"))
        );
        Assert.That(seen, Is.Empty);
    }

    [Test, CancelAfter(30_000)]
    public async Task Thousand_and_one_parameters_are_refused(CancellationToken cancellationToken)
    {
        var seen = Remember(out var see, "query.1000");
        await _bus.With("see", see).StartAsync(Inbound("in", "/search", "GET", "see"));

        using var many = await _bus.Client.GetAsync(new Uri($"/search?{Parameters(1001)}", UriKind.Relative), cancellationToken);
        using var enough = await _bus.Client.GetAsync(new Uri($"/search?{Parameters(1000)}", UriKind.Relative), cancellationToken);
        using var beyondTheLine = await _bus.Client.GetAsync(new Uri($"/search?{Parameters(10_000)}", UriKind.Relative), cancellationToken);

        Assert.That(
            (many.StatusCode, (await JsonOf(many, cancellationToken)).GetProperty("code").GetString()),
            Is.EqualTo((HttpStatusCode.BadRequest, "ESB-HTTP-QUERY"))
        );
        Assert.That((enough.StatusCode, seen.Single()), Is.EqualTo((HttpStatusCode.Accepted, "query.1000=")));
        Assert.That(beyondTheLine.StatusCode, Is.EqualTo(HttpStatusCode.RequestUriTooLong));

        static string Parameters(int count) => string.Join('&', Enumerable.Range(1, count));
    }

    [Test, CancelAfter(30_000)]
    public async Task Properties_of_the_request_are_not_published(CancellationToken cancellationToken)
    {
        await _bus.StartAsync(""" "in": { "type": "http-inbound", "path": "/orders/{id}", "publish": "orders.new" } """);

        using var response = await _bus.PostAsync("/orders/1?a=b", "<order/>", cancellationToken: cancellationToken);

        Assert.That((response.StatusCode, _bus.Published.Single().Properties), Is.EqualTo((HttpStatusCode.Accepted, (object?)null)));
    }

    [TestCase("/orders/2"), TestCase("/orders/1?urgent=yes"), CancelAfter(30_000)]
    public async Task Same_key_for_another_resource_is_a_conflict(string other, CancellationToken cancellationToken)
    {
        await _bus.StartAsync(""" "in": { "type": "http-inbound", "path": "/orders/{id}", "publish": "orders.new" } """);

        using var first = await SendAsync("/orders/1");
        using var again = await SendAsync("/orders/1");
        using var elsewhere = await SendAsync(other);

        Assert.That((first.StatusCode, again.StatusCode), Is.EqualTo((HttpStatusCode.Accepted, HttpStatusCode.Accepted)));
        Assert.That(
            (elsewhere.StatusCode, (await JsonOf(elsewhere, cancellationToken)).GetProperty("code").GetString()),
            Is.EqualTo((HttpStatusCode.UnprocessableEntity, "ESB-HTTP-IDEMCONFLICT"))
        );
        Assert.That(_bus.Published, Has.Count.EqualTo(1));

        async Task<HttpResponseMessage> SendAsync(string address)
        {
            using var request = new HttpRequestMessage(HttpMethod.Post, address)
            {
                Headers = { { "Idempotency-Key", "k" } },
                Content = new StringContent("x"),
            };
            return await _bus.Client.SendAsync(request, cancellationToken);
        }
    }

    [Test, CancelAfter(30_000)]
    public async Task Relay_chooses_its_way_by_the_path(CancellationToken cancellationToken)
    {
        await using var east = await Backend.StartAsync();
        await using var west = await Backend.StartAsync();
        await _bus.StartAsync(
            $$"""
            "in": { "type": "http-inbound", "path": "/regions/{region}", "relay": "west", "routes": [{ "if": { "property": "path.region", "equals": "east" }, "relay": "east" }] },
            "east": { "type": "http-outbound", "url": "{{east.Url}}" }, "west": { "type": "http-outbound", "url": "{{west.Url}}" }
            """
        );

        using var toEast = await _bus.PostAsync("/regions/east", "<a/>", cancellationToken: cancellationToken);
        using var toWest = await _bus.PostAsync("/regions/north", "<b/>", cancellationToken: cancellationToken);

        Assert.That((east.Requests.Single(), west.Requests.Single()), Is.EqualTo((east.Requests[0], west.Requests[0])));
        Assert.That(east.Requests[0], Does.EndWith("<a/>"));
        Assert.That(west.Requests[0], Does.EndWith("<b/>"));
    }

    [TestCase("/a/{id}", "/a/{key}"), TestCase("/a/{id}/b", "/A/{key}/B"), TestCase("/a/{id}", "/a/{id}/")]
    public void Two_endpoints_for_one_request_are_refused_whatever_their_placeholders_are_called(string first, string second)
    {
        _bus.With("see", (_, _) => ValueTask.CompletedTask)
            .Read($"{Inbound("one", first, "GET", "see")}, {Inbound("two", second, "GET", "see")}");

        Assert.That(
            _bus.Errors.All.Select(error => (error.Code, error.Path)),
            Is.EqualTo(new[] { ("ESB-CFG-ROUTE", "endpoints.two.path") })
        );
    }

    [TestCase("/a/{id}", "/a/b"), TestCase("/a/{id}/c", "/a/b/{id}"), TestCase("/a/{id}", "/a/{id}/{id2}")]
    public void Endpoints_whose_requests_can_be_told_apart_are_taken(string first, string second)
    {
        _bus.With("see", (_, _) => ValueTask.CompletedTask)
            .Read($"{Inbound("one", first, "GET", "see")}, {Inbound("two", second, "GET", "see")}");

        Assert.That(_bus.Errors.All, Is.Empty);
    }

    [
        TestCase("/a/{id}.json"),
        TestCase("/a/x{id}"),
        TestCase("/a/{}"),
        TestCase("/a/{id"),
        TestCase("/a/id}"),
        TestCase("/a/{a.b}"),
        TestCase("/{id}/{id}"),
        TestCase("/a/{*rest}")
    ]
    public void Placeholder_that_is_no_whole_segment_is_refused(string path)
    {
        _bus.With("see", (_, _) => ValueTask.CompletedTask).Read(Inbound("in", path, "GET", "see"));

        Assert.That(
            _bus.Errors.All.Select(error => (error.Code, error.Path)),
            Is.EqualTo(new[] { ("ESB-CFG-VALUE", "endpoints.in.path") })
        );
    }

    private static string Inbound(string name, string path, string method, string process) =>
        $$""" "{{name}}": { "type": "http-inbound", "path": "{{path}}", "methods": ["{{method}}"], "process": "{{process}}" } """;

    // Notes the properties that a message has, by name.
    private static List<string> Remember(out MessageStep see, params string[] properties)
    {
        var seen = new List<string>();
        see = (context, _) =>
        {
            seen.Add(
                string.Join(
                    ' ',
                    properties.Where(name => context.GetProperty(name) is not null).Select(name => $"{name}={context.GetProperty(name)}")
                )
            );
            return ValueTask.CompletedTask;
        };
        return seen;
    }
}
