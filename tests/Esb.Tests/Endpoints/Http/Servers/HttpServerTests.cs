using System.Text;
using Esb.Endpoints.Http.Outside;
using Esb.Endpoints.Http.Sending;
using Esb.Endpoints.Http.Servers;

namespace Esb.Tests.Endpoints.Http.Servers;

public sealed class HttpServerTests
{
    [
        TestCase("http://127.0.0.1/", "127.0.0.1"),
        TestCase("http://127.0.0.1:8080/", "127.0.0.1:8080"),
        TestCase("https://shop.example:443/", "shop.example"),
        TestCase("http://b\u00fccher.example:81/", "xn--bcher-kva.example:81")
    ]
    [
        TestCase("http://[::1]/", "[::1]"),
        TestCase("http://[::1]:8080/", "[::1]:8080"),
        TestCase("https://[2001:db8::1]:443/", "[2001:db8::1]"),
        TestCase("http://[fe80::1%25eth0]:81/", "[fe80::1]:81")
    ]
    public void Relay_names_the_host_of_its_url(string url, string expected)
    {
        using var server = new HttpServer(url, new HttpOutboundConfig { Url = url }, TimeProvider.System);
        var head = new TextBuffer();

        server.WriteRequestLine(head, "GET", default);

        Assert.That(Encoding.ASCII.GetString(head.Written.Span), Is.EqualTo($"GET / HTTP/1.1\r\nHost: {expected}\r\n"));
        head.Release();
    }
}
