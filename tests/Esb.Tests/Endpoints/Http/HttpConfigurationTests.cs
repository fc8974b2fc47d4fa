using System.Net;
using System.Net.Sockets;
using Esb.Core.Configuration;

namespace Esb.Tests.Endpoints.Http;

public sealed class HttpConfigurationTests
{
    private const string Orders = """ "orders": { "type": "http-inbound", "path": "/orders", "publish": "orders.new" } """;

    private HttpBus _bus = null!;

    [SetUp]
    public void CreateBus() => _bus = new HttpBus();

    [TearDown]
    public async Task StopBus() => await _bus.DisposeAsync();

    [
        TestCase("http://127.0.0.1:0", "ESB-CFG-PORT"),
        TestCase("http://127.0.0.1:70000", "ESB-CFG-PORT"),
        TestCase("http://127.0.0.1:http", "ESB-CFG-PORT"),
        TestCase("http://127.0.0.1:", "ESB-CFG-PORT")
    ]
    [
        TestCase("https://127.0.0.1:8443", "ESB-CFG-URL"),
        TestCase("http://somewhere:8080", "ESB-CFG-URL"),
        TestCase("http://127.0.0.1:8080/path", "ESB-CFG-URL"),
        TestCase("8080", "ESB-CFG-URL")
    ]
    [Property("Case", "CFG-30")]
    public void Address_where_nobody_can_listen_is_refused(string url, string code)
    {
        _bus.Read(Orders, $$""", "listeners": { "public": { "url": "{{url}}" } }""");

        Assert.That(
            _bus.Errors.All.Select(error => (error.Code, error.Path, error.Value)),
            Is.EqualTo(new[] { (code, "listeners.public.url", $"\"{url}\"") })
        );
    }

    [TestCase("http://localhost:8080"), TestCase("http://[::1]:8080"), TestCase("http://0.0.0.0:8080/")]
    public void Address_of_this_machine_is_taken(string url)
    {
        _bus.Read(Orders, $$""", "listeners": { "public": { "url": "{{url}}" } }""");

        Assert.That(_bus.Errors.All, Is.Empty);
    }

    [Test, Property("Case", "CFG-30"), CancelAfter(30_000)]
    public void Port_in_use_is_told_in_one_line()
    {
        using var other = new TcpListener(IPAddress.Loopback, _bus.Port);
        other.Start();

        var failure = Assert.ThrowsAsync<ConfigurationRefusedException>(() => _bus.StartAsync(Orders));

        Assert.That(
            failure.Errors.Single().ToString(),
            Is.EqualTo(
                $"ESB-CFG-PORT listeners.public.url = \"{_bus.Address.OriginalString}\": the port {_bus.Port} is in use "
                    + $"({failure.Errors[0].Origin})"
            )
        );
        Assert.That(_bus.Log.All.Where(line => line.Text.Contains("Exception", StringComparison.Ordinal)), Is.Empty, "no stack trace");
    }

    [Test]
    public void Two_listeners_at_one_port_are_refused()
    {
        _bus.Read(
            Orders,
            """, "listeners": { "public": { "url": "http://127.0.0.1:8080" }, "partner": { "url": "http://localhost:8080" } }"""
        );

        Assert.That(_bus.Errors.All.Single().Describe(), Does.Contain("listeners.partner.url").And.Contain("'public'"));
    }

    [Test]
    public void Listener_that_is_not_there_is_refused()
    {
        _bus.Read(Orders, """, "listeners": { "partner": { "url": "http://localhost:8080" } }""");

        Assert.That(
            _bus.Errors.All.Single(),
            Has.Property(nameof(ConfigError.Code))
                .EqualTo("ESB-CFG-REF")
                .And.Property(nameof(ConfigError.Path))
                .EqualTo("endpoints.orders.listener")
        );
    }

    [TestCase("/orders"), TestCase("/ORDERS"), TestCase("/Orders/"), Property("Case", "CFG-31")]
    public void Two_endpoints_for_one_request_are_refused_with_both_names(string path)
    {
        _bus.Read(
            $$"""{{Orders}}, "other": { "type": "http-inbound", "path": "{{path}}", "methods": ["PUT", "POST"], "publish": "orders.new" } """
        );

        var error = _bus.Errors.All.Single();
        Assert.That((error.Code, error.Path), Is.EqualTo(("ESB-CFG-ROUTE", "endpoints.other.path")));
        Assert.That(error.Expected, Does.Contain("'orders' and 'other'").And.Contain("POST /orders"));
    }

    [
        TestCase(""" "path": "/orders", "methods": ["PUT"] """),
        TestCase(""" "path": "/orders/new" """),
        TestCase(""" "path": "/orders", "enabled": false """),
        TestCase(""" "path": "/orders", "listener": "partner" """)
    ]
    public void Endpoints_for_different_requests_are_taken(string other)
    {
        _bus.Read(
            $$"""{{Orders}}, "other": { "type": "http-inbound", {{other}}, "publish": "orders.new" } """,
            """, "listeners": { "public": { "url": "http://127.0.0.1:8080" }, "partner": { "url": "http://127.0.0.1:8090" } }"""
        );

        Assert.That(_bus.Errors.All, Is.Empty);
    }

    [TestCase("orders"), TestCase(""), TestCase("/a?b=c"), TestCase("/a#b"), TestCase("/a/../b"), TestCase("/a%20b"), TestCase("/a\\\\b")]
    public void Path_that_no_request_can_have_is_refused(string path)
    {
        _bus.Read($$""" "orders": { "type": "http-inbound", "path": "{{path}}", "publish": "orders.new" } """);

        Assert.That(
            _bus.Errors.All.Select(error => (error.Code, error.Path)),
            Is.EqualTo(new[] { ("ESB-CFG-VALUE", "endpoints.orders.path") })
        );
    }

    [
        TestCase(""" "methods": ["post"] """, "methods"),
        TestCase(""" "methods": [] """, "methods"),
        TestCase(""" "accept": ["xml"] """, "accept")
    ]
    public void List_with_a_wrong_name_is_refused(string property, string name)
    {
        _bus.Read($$""" "orders": { "type": "http-inbound", "path": "/orders", "publish": "orders.new", {{property}} } """);

        Assert.That(
            _bus.Errors.All.Select(error => (error.Code, error.Path)),
            Is.EqualTo(new[] { ("ESB-CFG-VALUE", $"endpoints.orders.{name}") })
        );
    }
}
