using Esb.Core.Errors;
using Esb.Core.Processes;

namespace Esb.Tests.Workflows.Processes;

[FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class TransformStepTests : IDisposable
{
    private const string Map = """
        <xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
          <xsl:output omit-xml-declaration="yes"/>
          <xsl:param name="region"/>
          <xsl:param name="customer"/>
          <xsl:param name="rate" select="1"/>
          <xsl:template match="/order">
            <invoice region="{$region}" to="{$customer/customer/name}"><xsl:value-of select="total * $rate"/></invoice>
          </xsl:template>
        </xsl:stylesheet>
        """;

    private CompiledProcesses? _processes;

    public void Dispose() => _processes?.Dispose();

    [Test, CancelAfter(30_000)]
    public async Task Several_documents_and_parameters_go_into_one_map(CancellationToken cancellationToken)
    {
        Compile(
            """{ "map": "invoice", "parameters": { "region": { "header": "x-region" }, "rate": 2 }, "inputs": { "customer": { "property": "customer" } } }"""
        );

        var context = await RunAsync(
            "<order><total>21</total></order>",
            "<?xml version='1.0' encoding='iso-8859-1'?><customer><name>Zoë</name></customer>",
            cancellationToken
        );

        Assert.That(context.Message.Body.ReadText(), Is.EqualTo("""<invoice region="north" to="Zoë">42</invoice>"""));
        Assert.That(context.Message.ContentType, Is.EqualTo("application/xml; charset=utf-8"));
    }

    [Test, CancelAfter(30_000), Property("Case", "XSL-13")]
    public void A_parameter_that_a_message_has_no_value_for_fails_the_message(CancellationToken cancellationToken)
    {
        Compile(
            """{ "map": "invoice", "parameters": { "region": { "header": "x-nowhere" } }, "inputs": { "customer": { "property": "customer" } } }"""
        );

        var error = Assert.ThrowsAsync<EsbException>(() => RunAsync("<order/>", "<customer/>", cancellationToken))!;

        Assert.That((error.Code, error.Kind), Is.EqualTo(("ESB-XSL-PARAM", FaultKind.Invalid)));
    }

    [TestCase("""{ "map": "invoice", "inputs": { "customer": { "property": "c" } } }""", "needs the parameter 'region'")]
    [TestCase(
        """{ "map": "invoice", "parameters": { "region": "x", "customer": "x", "raet": 1 } }""",
        "has no parameter 'raet'; did you mean \"rate\"?"
    )]
    [TestCase(
        """{ "map": "invoice", "parameters": { "region": "x", "customer": "x" }, "inputs": { "customer": "<a/>" } }""",
        "'customer' is a parameter and an input"
    )]
    [Property("Case", "XSL-13")]
    public void Arguments_that_do_not_fit_the_map_are_configuration_errors(string step, string expected)
    {
        Compile(step);

        var error = _processes!.Errors.All.Single();

        Assert.That(error.Code, Is.EqualTo("ESB-XSL-PARAM"));
        Assert.That(error.Path, Is.EqualTo("processes.main[1].transform.map"));
        Assert.That(error.Expected, Does.Contain(expected));
    }

    private void Compile(string step) =>
        _processes = new CompiledProcesses(
            $$"""{ "main": [{ "set": { "properties": { "customer": { "header": "x-customer" } } } }, { "transform": {{step}} }] }""",
            maps: [("invoice", Map)]
        );

    private Task<MessageContext> RunAsync(string order, string customer, CancellationToken cancellationToken)
    {
        var message = Some.Message(order);
        return _processes!.RunAsync(
            message with
            {
                Headers = message.Headers.With("x-region", "north").With("x-customer", customer),
            },
            cancellationToken
        );
    }
}
