namespace Esb.Tests.Configuration;

public sealed class NameTests : ConfigurationFixture
{
    [Test, Property("Case", "CFG-12")]
    [TestCase("orders", "Orders")]
    [TestCase("orders-db", "orders_db")]
    public void Names_that_a_variable_could_not_tell_apart_are_refused_with_both_places(string one, string other)
    {
        var error = RefuseOnce(
            $$"""
            { "topics": {
              "{{one}}": {},
              "{{other}}": {}
            } }
            """
        );

        Assert.That(error.Code, Is.EqualTo("ESB-CFG-DUPNAME"));
        Assert.That(
            error.Expected,
            Does.Contain($"{one} at ").And.Contain("esb.json:2:3").And.Contain($"{other} at ").And.Contain("esb.json:3:3")
        );
    }

    [Test, Property("Case", "CFG-12")]
    public void Two_endpoints_of_one_name_are_refused_with_both_places()
    {
        var error = RefuseOnce(
            """
            { "endpoints": {
              "out": { "type": "file-outbound", "folder": "a" },
              "out": { "type": "file-outbound", "folder": "b" }
            } }
            """
        );

        Assert.That((error.Code, error.Path), Is.EqualTo(("ESB-CFG-DUPKEY", "endpoints.out")));
        Assert.That(error.Expected, Does.Contain("esb.json:2:3").And.Contain("esb.json:3:3"));
    }

    [Test, Property("Case", "CFG-13")]
    [TestCase("")]
    [TestCase(".hidden")]
    [TestCase("esb.reserved")]
    [TestCase("orders.new")]
    [TestCase("two words")]
    [TestCase("größe")]
    [TestCase("ends-with-a-line-break\\n")]
    [TestCase("-dash-first")]
    public void A_name_with_other_characters_is_refused_with_the_rule(string name)
    {
        var error = RefuseOnce($$"""{ "topics": { "{{name}}": {} } }""");

        Assert.That(error.Code, Is.EqualTo("ESB-CFG-NAME"));
        Assert.That(error.Expected, Does.EndWith("expected 1 to 128 letters, digits, - and _, beginning with a letter or digit"));
    }

    [Test, Property("Case", "CFG-13")]
    public void A_name_of_128_characters_is_accepted_and_a_longer_one_refused()
    {
        Accept($$"""{ "topics": { "{{new string('a', 128)}}": {} } }""");

        Assert.That(RefuseOnce($$"""{ "topics": { "{{new string('a', 129)}}": {} } }""").Code, Is.EqualTo("ESB-CFG-NAME"));
    }

    [Test, Property("Case", "CFG-14")]
    [TestCase(
        """{ "topics": { "orders": {} }, "processes": { "p": [{ "publish": "order.new" }] } }""",
        "processes.p[0].publish",
        "order",
        "topics",
        "orders"
    )]
    [TestCase(
        """{ "topics": { "orders": {} }, "endpoints": { "out": { "type": "file-outbound", "folder": "x", "subscribe": ["ordrs.#"] } } }""",
        "endpoints.out.subscribe[0]",
        "ordrs",
        "topics",
        "orders"
    )]
    [TestCase(
        """{ "processes": { "take": [] }, "endpoints": { "in": { "type": "http-inbound", "path": "/", "process": "tke" } } }""",
        "endpoints.in.process",
        "tke",
        "processes",
        "take"
    )]
    [TestCase(
        """{ "endpoints": { "out": { "type": "file-outbound", "folder": "x" } }, "processes": { "p": [{ "call": "outt" }] } }""",
        "processes.p[0].call",
        "outt",
        "endpoints",
        "out"
    )]
    [TestCase(
        """{ "schemas": { "order": "a.xsd" }, "processes": { "p": [{ "validate": "ordre" }] } }""",
        "processes.p[0].validate",
        "ordre",
        "schemas",
        "order"
    )]
    [TestCase(
        """{ "listeners": { "private": { "url": "http://localhost" } }, "processes": { "p": [] }, "endpoints": { "in": { "type": "http-inbound", "path": "/", "process": "p", "listener": "privat" } } }""",
        "endpoints.in.listener",
        "privat",
        "listeners",
        "private"
    )]
    public void A_reference_to_nothing_says_what_from_where_and_the_nearest_name(
        string json,
        string path,
        string name,
        string section,
        string nearest
    )
    {
        var error = RefuseOnce(json);

        Assert.That((error.Code, error.Path), Is.EqualTo(("ESB-CFG-REF", path)));
        Assert.That(error.Expected, Is.EqualTo($"""there is no "{name}" in {section}; did you mean "{nearest}"?"""));
    }

    [Test, Property("Case", "CFG-14")]
    public void A_default_that_refers_to_nothing_is_refused_too()
    {
        var error = RefuseOnce(
            """
            {
              "listeners": { "private": { "url": "http://localhost" } },
              "processes": { "p": [] },
              "endpoints": { "in": { "type": "http-inbound", "path": "/", "process": "p" } }
            }
            """
        );

        Assert.That(
            (error.Code, error.Path, error.Expected),
            Is.EqualTo(("ESB-CFG-REF", "endpoints.in.listener", """there is no "public" in listeners"""))
        );
    }
}
