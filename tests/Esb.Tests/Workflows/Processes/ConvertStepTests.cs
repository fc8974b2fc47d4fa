using Esb.Core.Errors;

namespace Esb.Tests.Workflows.Processes;

public sealed class ConvertStepTests
{
    [TestCase("""{ "from": "xml", "to": "json" }""", null, "<a><b>1</b></a>", """{"a":{"b":"1"}}""", "application/json")]
    [TestCase("\"json\"", "application/xml", "<a><b>1</b></a>", """{"a":{"b":"1"}}""", "application/json")]
    [TestCase("""{ "to": "json", "arrays": ["b"] }""", "text/xml", "<a><b>1</b></a>", """{"a":{"b":["1"]}}""", "application/json")]
    [TestCase(
        """{ "to": "xml", "root": "a" }""",
        "application/json",
        """{"b":1,"c":2}""",
        "<?xml version=\"1.0\" encoding=\"utf-8\"?><a><b>1</b><c>2</c></a>",
        "application/xml; charset=utf-8"
    )]
    [CancelAfter(30_000)]
    public async Task Body_and_content_type_are_of_the_other_form(
        string step,
        string? contentType,
        string body,
        string expected,
        string type,
        CancellationToken cancellationToken
    )
    {
        using var processes = new CompiledProcesses($$"""{ "main": [{ "convert": {{step}} }] }""");

        var context = await processes.RunAsync(Some.Message(body, contentType: contentType), cancellationToken);

        Assert.That((context.Message.Body.ReadText(), context.Message.ContentType), Is.EqualTo((expected, type)));
    }

    [Test, CancelAfter(30_000)]
    public void Body_that_nothing_tells_the_form_of_is_refused(CancellationToken cancellationToken)
    {
        using var processes = new CompiledProcesses("""{ "main": [{ "convert": "json" }] }""");

        var error = Assert.ThrowsAsync<EsbException>(() => processes.RunAsync(Some.Message("a;b"), cancellationToken))!;

        Assert.That((error.Code, error.Kind), Is.EqualTo(("ESB-CONVERT-TYPE", FaultKind.Malformed)));
    }

    [TestCase(
        "\"jsno\"",
        "ESB-CFG-REF processes.main[0].convert = \"jsno\": there is no such format; expected one of json, xml; did you mean \"json\"?"
    )]
    [TestCase("""{ "from": "orders", "to": "json" }""", "ESB-CFG-REF processes.main[0].convert.from")]
    [TestCase("""{ "to": "json", "types": "ordr" }""", "ESB-CFG-REF processes.main[0].convert.types = \"ordr\"")]
    [TestCase("""{ "to": "xml", "types": "tree" }""", "ESB-CFG-VALUE processes.main[0].convert.types")]
    [TestCase("""{ "from": "json", "to": "json", "types": "order" }""", "ESB-CFG-VALUE processes.main[0].convert.types")]
    [TestCase("""{ "to": "xml", "types": "order" }""", "ESB-CFG-VALUE processes.main[0].convert.types")]
    [TestCase("""{ "to": "xml", "root": "" }""", "ESB-CFG-VALUE processes.main[0].convert.root")]
    public void Settings_that_cannot_be_used_are_configuration_errors(string step, string expected)
    {
        using var processes = new CompiledProcesses(
            $$"""{ "main": [{ "convert": {{step}} }] }""",
            sections: """ "schemas": { "order": "order.schema.json", "tree": "tree.xsd" }, """,
            files:
            [
                ("order.schema.json", "true"),
                (
                    "tree.xsd",
                    """<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="tree" type="xs:string"/></xs:schema>"""
                ),
            ]
        );

        Assert.That(processes.Errors.All.Single().ToString(), Does.StartWith(expected));
    }
}
