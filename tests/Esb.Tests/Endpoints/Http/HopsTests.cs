using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Endpoints.Http.Wire;
using Microsoft.Extensions.Primitives;

namespace Esb.Tests.Endpoints.Http;

/// <summary>How a message that comes back over HTTP is known to have been here before.</summary>
public sealed class HopsTests
{
    private HttpBus _bus = null!;

    [SetUp]
    public void CreateBus() => _bus = new HttpBus();

    [TearDown]
    public async Task StopBus() => await _bus.DisposeAsync();

    [TestCase(0, 1), TestCase(1, 2), TestCase(31, 32), CancelAfter(30_000), Property("Case", "XPT-11")]
    public async Task Each_request_tells_how_often_its_message_has_left_a_bus(int before, int told, CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync();

        await Endpoint(backend.Url).SendAsync(MessageHops.Set(Some.Message(), before), cancellationToken);

        var via = backend.Requests.Single().Split('\n').Single(line => line.StartsWith("Via: ", StringComparison.Ordinal));
        Assert.That(via, Is.EqualTo($"Via: {string.Join(", ", Enumerable.Repeat("1.1 esb", told))}"));
    }

    [TestCase(32), TestCase(33), TestCase(1_000_000), CancelAfter(30_000), Property("Case", "XPT-11")]
    public async Task Message_that_would_leave_once_too_often_is_not_sent_and_not_tried_again(
        int before,
        CancellationToken cancellationToken
    )
    {
        await using var backend = await Backend.StartAsync();
        var endpoint = Endpoint(backend.Url);

        var failure = Assert.ThrowsAsync<EndpointException>(async () =>
            await endpoint.SendAsync(MessageHops.Set(Some.Message(), before), cancellationToken)
        );

        Assert.That(
            (failure!.Code, failure.IsTransient, failure.Status, failure.IsOutage),
            Is.EqualTo(("ESB-ROUTE-HOPS", false, (int?)508, false))
        );
        Assert.That(failure.Message, Does.Contain($" {before} times"));
        Assert.That(backend.Requests, Is.Empty);
    }

    [Test, CancelAfter(30_000), Property("Case", "XPT-11")]
    public async Task Message_that_came_over_a_bus_goes_on_counting_and_one_that_came_over_a_proxy_begins(
        CancellationToken cancellationToken
    )
    {
        await _bus.StartAsync(""" "orders": { "type": "http-inbound", "path": "/orders", "publish": "orders.new", "headers": ["*"] } """);

        await PostAsync(cancellationToken, "1.1 esb, 1.1 esb");
        await PostAsync(cancellationToken, "1.1 proxy.example, 1.0 other (esb)");
        await PostAsync(cancellationToken);

        Assert.That(_bus.Published.Select(MessageHops.Of), Is.EqualTo(new[] { 2, 0, 0 }));
    }

    [Test, CancelAfter(30_000), Property("Case", "XPT-11")]
    public async Task Way_that_a_message_came_is_told_once_also_where_its_headers_may_leave(CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync();
        var message = MessageHops.Set(Some.Message() with { Headers = MessageHeaders.Empty.With("via", "1.1 esb, 1.1 esb") }, hops: 2);

        await Endpoint(backend.Url, """ , "headers": ["*"] """).SendAsync(message, cancellationToken);

        Assert.That(
            backend.Requests.Single().Split('\n').Where(line => line.StartsWith("Via: ", StringComparison.OrdinalIgnoreCase)),
            Is.EqualTo(new[] { "Via: 1.1 esb, 1.1 esb, 1.1 esb" })
        );
    }

    [Test, CancelAfter(30_000)]
    public async Task Way_is_kept_back_where_it_is_removed(CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync();

        await Endpoint(backend.Url, """ , "rewriteHeaders": { "remove": ["via"] } """).SendAsync(Some.Message(), cancellationToken);

        Assert.That(backend.Requests.Single(), Does.Not.Contain("Via:").IgnoreCase);
    }

    [
        TestCase("1.1 esb", 1),
        TestCase("HTTP/2 ESB (a comment)", 1),
        TestCase("1.1 esb,1.1 fred , 2\tesb", 2),
        TestCase("esb", 0),
        TestCase("1.1 esb.example", 0),
        TestCase("", 0),
        TestCase(", ,", 0),
        Property("Case", "XPT-11")
    ]
    public void Only_entries_of_a_bus_count(string via, int hops)
    {
        Assert.That(ViaField.HopsOf(new StringValues([via, "1.0 proxy"])), Is.EqualTo(hops));
    }

    private async Task PostAsync(CancellationToken cancellationToken, string? via = null)
    {
        using var request = new HttpRequestMessage(HttpMethod.Post, "/orders") { Content = new StringContent("<order/>") };
        if (via is not null)
            request.Headers.TryAddWithoutValidation("Via", via);
        using var response = await _bus.Client.SendAsync(request, cancellationToken);
        Assert.That((int)response.StatusCode, Is.EqualTo(202));
    }

    private IOutboundEndpoint Endpoint(string url, string more = "")
    {
        _bus.Read($$""" "backend": { "type": "http-outbound", "url": "{{url}}" {{more}} } """);
        return OutboundEndpoints.Create(_bus, "backend").CreateInstance();
    }
}
