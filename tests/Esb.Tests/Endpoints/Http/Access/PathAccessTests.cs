using Microsoft.Extensions.Primitives;

namespace Esb.Tests.Endpoints.Http.Access;

[Property("Case", "HTP-18")]
public sealed class PathAccessTests : AccessFixture
{
    [
        TestCase("/orders", 401, 403, 202),
        TestCase("/%6frders", 401, 403, 202),
        TestCase("/%6F%72ders", 401, 403, 202),
        TestCase("/orders?", 401, 403, 202),
        TestCase("http://bus/orders", 401, 403, 202)
    ]
    [
        TestCase("/ORDERS", 404, 404, 404),
        TestCase("/orders/", 404, 404, 404),
        TestCase("//orders", 404, 404, 404),
        TestCase("/orders;a=b", 404, 404, 404),
        TestCase("/orders%20", 404, 404, 404)
    ]
    [
        TestCase("/./orders", 400, 400, 400),
        TestCase("/open/../orders", 400, 400, 400),
        TestCase("/open/%2e%2e/orders", 400, 400, 400),
        TestCase("/open%2f..%2forders", 400, 400, 400)
    ]
    [CancelAfter(30_000)]
    public async Task No_way_of_writing_a_path_gets_past_its_protection(
        string path,
        int stranger,
        int carrier,
        int shop,
        CancellationToken cancellationToken
    )
    {
        await using var backend = await Backend.StartAsync();
        await Bus.StartAsync(
            $$"""
            {{Orders(""", "authentication": ["api-key"], "parties": ["shop"] """)}},
            "put": { "type": "http-inbound", "path": "/orders", "methods": ["PUT"], "relay": "out", "authentication": ["api-key"], "parties": ["shop"] },
            "open": { "type": "http-inbound", "path": "/open", "publish": "orders.new" },
            "out": { "type": "http-outbound", "url": "{{backend.Url}}" }
            """,
            Parties
        );

        foreach (var method in new[] { "POST", "PUT" })
        {
            var granted = method == "PUT" && shop == 202 ? 200 : shop;
            Assert.That(
                (
                    await AskAsync(method, path, default, cancellationToken),
                    await AskAsync(method, path, CarrierKey, cancellationToken),
                    await AskAsync(method, path, ShopKey, cancellationToken)
                ),
                Is.EqualTo((stranger, carrier, granted)),
                method
            );
        }

        Assert.That((Bus.Published.Count, backend.Requests.Count), Is.EqualTo(shop == 202 ? (1, 1) : (0, 0)));
    }

    private async Task<int> AskAsync(string method, string path, StringValues key, CancellationToken cancellationToken)
    {
        var header = key.Count == 0 ? "" : $"X-Api-Key: {key}\r\n";
        var answer = await RawConnection.AskAsync(
            Bus.Port,
            $"{method} {path} HTTP/1.1\r\nHost: bus\r\n{header}Connection: close\r\nContent-Length: 0\r\n\r\n",
            cancellationToken
        );
        return int.Parse(answer.Split(' ')[1], System.Globalization.CultureInfo.InvariantCulture);
    }
}
