namespace Esb.Tests.Endpoints.Soap;

/// <summary>Mistakes in the configuration of SOAP endpoints, and in WSDLs.</summary>
public sealed class SoapConfigurationTests
{
    private SoapBus _bus = null!;

    [SetUp]
    public void CreateBus() => _bus = new SoapBus();

    [TearDown]
    public async Task StopBus() => await _bus.DisposeAsync();

    [TestCase(""" "operations": { "Cancel": "order" } """, "ESB-CFG-VALUE endpoints.shop.operations")]
    [TestCase(""" "operations": { "Order": "nothing" } """, "ESB-CFG-REF endpoints.shop.operations.Order")]
    [TestCase(""" "operations": { "Order": "order" }, "process": "order" """, "ESB-CFG-ONEOF endpoints.shop")]
    [TestCase(""" "mode": "one-way", "process": "order" """, "ESB-CFG-VALUE endpoints.shop.mode")]
    [TestCase(""" "relay": "out", "process": "order" """, "ESB-CFG-ONEOF endpoints.shop")]
    [TestCase(""" "singleInstance": true """, "ESB-CFG-VALUE endpoints.shop.singleInstance")]
    [TestCase(""" "authentication": ["username-token"] """, "ESB-CFG-ACCESS endpoints.shop.authentication")]
    [TestCase(""" "methods": ["PUT"] """, "ESB-CFG-UNKNOWN endpoints.shop.methods")]
    public void Mistake_is_found(string settings, string expected)
    {
        _bus.Read(settings: settings);

        Assert.That(_bus.Http.Errors.All.Select(error => $"{error.Code} {error.Path}"), Does.Contain(expected));
    }

    [Test]
    public void Endpoint_without_a_WSDL_is_refused_as_not_available_yet()
    {
        _bus.Http.Read(""" "shop": { "type": "soap-inbound", "path": "/shop", "process": "order" } """);

        Assert.That(
            _bus.Http.Errors.All.Select(error => $"{error.Code} {error.Path}"),
            Is.EqualTo(["ESB-CFG-UNAVAILABLE endpoints.shop.wsdl"])
        );
    }

    [Test]
    public void User_name_tokens_are_for_SOAP_alone()
    {
        _bus.Http.Read(""" "in": { "type": "http-inbound", "path": "/in", "process": "order", "authentication": ["username-token"] } """);

        Assert.That(_bus.Http.Errors.All.Select(error => error.Expected), Has.Some.Contains("soap-inbound"));
    }

    [TestCase("<a/>", "expected definitions of WSDL 1.1")]
    [TestCase("<wsdl:definitions", "line 1")]
    [TestCase("<!DOCTYPE a [<!ENTITY b 'c'>]><wsdl:definitions xmlns:wsdl='http://schemas.xmlsoap.org/wsdl/'/>", "DTD")]
    [TestCase("<wsdl:definitions xmlns:wsdl='http://schemas.xmlsoap.org/wsdl/'/>", "binds no operation")]
    [TestCase(
        "<wsdl:definitions xmlns:wsdl='http://schemas.xmlsoap.org/wsdl/'><wsdl:import "
            + "location='http://evil.example/x.wsdl'/></wsdl:definitions>",
        "only relative names"
    )]
    [TestCase(
        "<wsdl:definitions xmlns:wsdl='http://schemas.xmlsoap.org/wsdl/'><wsdl:import location='../x.wsdl'/></wsdl:definitions>",
        "only relative names"
    )]
    [TestCase(
        "<wsdl:definitions xmlns:wsdl='http://schemas.xmlsoap.org/wsdl/'><wsdl:import location='gone.wsdl'/></wsdl:definitions>",
        "does not exist"
    )]
    public void Mistake_in_a_WSDL_is_found_with_its_place(string wsdl, string expected)
    {
        _bus.Read(wsdl);

        Assert.That(
            _bus.Http.Errors.All.Select(error => $"{error.Code} {error.Path}"),
            Is.All.EqualTo("ESB-WSDL-COMPILE endpoints.shop.wsdl")
        );
        Assert.That(_bus.Http.Errors.All.Select(error => error.Expected), Has.Some.Contains(expected));
    }

    [TestCase("element=\"t:Order\"", "element=\"t:Gone\"", "no schema declares the element {urn:shop}Gone")]
    [TestCase("element=\"t:Order\"", "type=\"xsd:string\"", "R2201")]
    [TestCase("element=\"t:Notice\"", "element=\"t:Order\"", "take the same child of Body")]
    [TestCase("message=\"t:OrderIn\"", "message=\"t:Gone\"", "there is no message 'Gone'")]
    [TestCase("message=\"t:OrderIn\"", "message=\"x:Gone\"", "the prefix of 'x:Gone' is not declared")]
    [TestCase("name=\"sku\" type=\"xsd:string\"", "name=\"sku\" type=\"xsd:strin\"", "line 5")]
    public void Contradiction_in_a_WSDL_is_found(string text, string instead, string expected)
    {
        _bus.Read(SomeWsdl.Document().Replace(text, instead, StringComparison.Ordinal));

        Assert.That(_bus.Http.Errors.All.Select(error => error.Expected), Has.Some.Contains(expected));
    }

    [Test]
    public void Encoded_use_is_refused()
    {
        _bus.Read(SomeWsdl.Rpc("encoded"));

        Assert.That(_bus.Http.Errors.All.Single().Expected, Does.Contain("R2706"));
    }

    [Test]
    public void Imported_WSDL_is_part_of_it()
    {
        var whole = SomeWsdl.Document();
        var begin = whole.IndexOf("<wsdl:binding", StringComparison.Ordinal);
        var head = whole[..whole.IndexOf("<wsdl:types>", StringComparison.Ordinal)];
        _bus.Write("parts/abstract.wsdl", $"{whole[..begin]}</wsdl:definitions>");

        _bus.Read($"{head}<wsdl:import namespace=\"urn:shop\" location=\"parts/abstract.wsdl\"/>{whole[begin..]}");

        Assert.That(_bus.Http.Errors.All, Is.Empty);
    }

    [TestCase(""" "url": "ftp://127.0.0.1/x" """, "ESB-CFG-URL endpoints.out.url")]
    [TestCase(""" "url": "http://services.example/x" """, "ESB-CFG-INSECURE endpoints.out.url")]
    [TestCase(""" "url": "http://127.0.0.1/x", "version": "1.3" """, "ESB-CFG-VALUE endpoints.out.version")]
    [TestCase(""" "url": "http://127.0.0.1/x", "security": { "userName": "a" } """, "ESB-CFG-REQUIRED endpoints.out.security.password")]
    [TestCase(""" "url": "http://127.0.0.1/x", "bufferSize": "64KiB" """, "ESB-CFG-UNKNOWN endpoints.out.bufferSize")]
    public void Mistake_of_an_outbound_endpoint_is_found(string settings, string expected)
    {
        _bus.Http.Read($$""" "out": { "type": "soap-outbound", {{settings}} } """);

        Assert.That(_bus.Http.Errors.All.Select(error => $"{error.Code} {error.Path}"), Does.Contain(expected));
    }
}
