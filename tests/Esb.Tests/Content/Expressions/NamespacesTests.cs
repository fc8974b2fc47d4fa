using Esb.Core.Configuration;
using Esb.Core.Expressions;

namespace Esb.Tests.Content.Expressions;

public sealed class NamespacesTests
{
    [Test]
    public void A_prefix_may_be_used_in_every_XPath()
    {
        using var content = SomeContent.Configure(
            """{ "namespaces": { "o": "urn:orders", "soap": { "uri": "http://schemas.xmlsoap.org/soap/envelope/" } } }"""
        );
        var errors = new ConfigErrors();

        var value = content.Expressions.Compile(new ValueConfig { Xpath = "/soap:Envelope/soap:Body/o:order" }, errors)!;

        Assert.That(content.Errors.Concat(errors.All), Is.Empty);
        Assert.That(
            value.Evaluate(
                Some.Context(
                    "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body><order "
                        + "xmlns='urn:orders'>7</order></s:Body></s:Envelope>"
                )
            ),
            Is.EqualTo("7")
        );
    }

    [TestCase("""{ "1a": "urn:a" }""", "ESB-CFG-NAME")]
    [TestCase("""{ "xmlns": "urn:a" }""", "ESB-CFG-NAME")]
    [TestCase("""{ "a": "" }""", "ESB-CFG-VALUE")]
    public void A_prefix_that_XML_does_not_allow_is_a_configuration_error(string namespaces, string code)
    {
        using var content = SomeContent.Configure($$"""{ "namespaces": {{namespaces}} }""");

        Assert.That(content.Errors.Single().Code, Is.EqualTo(code));
        Assert.That(content.Errors.Single().Origin!.Line, Is.EqualTo(1));
    }

    [Test]
    public void An_unknown_prefix_brings_the_nearest_known_one()
    {
        var errors = new ConfigErrors();

        SomeContent.Compiler(("order", "urn:orders")).Compile(new ValueConfig { Xpath = "/ordre:total" }, errors);

        Assert.That(errors.All.Single().Expected, Does.Contain("section namespaces").And.Contain("did you mean \"order\"?"));
    }
}
