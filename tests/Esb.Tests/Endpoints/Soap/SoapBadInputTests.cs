using Esb.Core.Messages;
using Esb.Endpoints.Soap.Envelopes;
using Esb.Tests.Endpoints.Http;

namespace Esb.Tests.Endpoints.Soap;

/// <summary>Requests that are no good: each gets a fault, and stops nothing else.</summary>
[CancelAfter(30_000)]
public sealed class SoapBadInputTests
{
    private const string Wsa = "http://www.w3.org/2005/08/addressing";

    private SoapBus _bus = null!;

    [SetUp]
    public void CreateBus() => _bus = new SoapBus();

    [TearDown]
    public async Task StopBus()
    {
        await _bus.DisposeAsync();
    }

    [TestCase("<order/>", "ESB-SOAP-ENVELOPE")]
    [TestCase("<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'/>", "ESB-SOAP-ENVELOPE")]
    [TestCase("<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Header/></e:Envelope>", "ESB-SOAP-ENVELOPE")]
    [TestCase("<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'>text<e:Body/></e:Envelope>", "ESB-SOAP-ENVELOPE")]
    [TestCase("<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Body/><e:Body/></e:Envelope>", "ESB-SOAP-ENVELOPE")]
    [TestCase(
        "<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Header><h "
            + "e:mustUnderstand='yes'/></e:Header><e:Body/></e:Envelope>",
        "ESB-SOAP-ENVELOPE"
    )]
    [TestCase("<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Body><a></e:Body></e:Envelope>", "ESB-XML-SYNTAX")]
    [TestCase(
        "<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Body><a/></e:Body></e:Envelope><more/>",
        "ESB-XML-SYNTAX"
    )]
    [TestCase("{ \"order\": 1 }", "ESB-XML-SYNTAX")]
    [TestCase("", "ESB-XML-EMPTY")]
    [Property("Case", "SOP-01")]
    public async Task Body_that_is_no_envelope_is_a_fault_with_400_and_the_next_call_is_answered(
        string text,
        string code,
        CancellationToken cancellationToken
    )
    {
        await _bus.StartAsync();

        var bad = await _bus.PostAsync(text, cancellationToken);
        var good = await _bus.CallAsync(SoapBus.Order, cancellationToken);

        Assert.That((bad.Status, bad.FaultCode, bad.Code, good.Status), Is.EqualTo((400, "soap:Client", code, 200)));
        Assert.That(_bus.Http.Audit.Facts[0].Code, Is.EqualTo(code), "the audit hears of it");
    }

    [TestCase(true, "1.2")]
    [TestCase(false, "1.1")]
    [Property("Case", "SOP-02")]
    public async Task Envelope_of_a_version_that_the_service_does_not_speak_is_a_VersionMismatch(
        bool has11,
        string sent,
        CancellationToken cancellationToken
    )
    {
        await _bus.StartAsync(SomeWsdl.Document(has11, has12: !has11));

        var answer = await _bus.CallAsync(SoapBus.Order, cancellationToken, version: sent == "1.1" ? SoapVersion.V11 : SoapVersion.V12);
        var unknown = await _bus.PostAsync("<e:Envelope xmlns:e='urn:soap:2.0'><e:Body/></e:Envelope>", cancellationToken);

        Assert.That((answer.Status, answer.FaultCode), Is.EqualTo((500, "soap:VersionMismatch")));
        Assert.That((unknown.Status, unknown.FaultCode), Is.EqualTo((500, "soap:VersionMismatch")));
    }

    [Test, Property("Case", "SOP-03")]
    public async Task Header_that_must_be_understood_and_is_not_is_named(CancellationToken cancellationToken)
    {
        await _bus.StartAsync();
        const string header = """<x:tx xmlns:x="urn:x" e:mustUnderstand="1"/>""";

        var old = await _bus.CallAsync(SoapBus.Order, cancellationToken, header);
        var current = await _bus.CallAsync(SoapBus.Order, cancellationToken, header, SoapVersion.V12);

        Assert.That(
            (old.FaultCode, old.FaultReason, old.Detail),
            Is.EqualTo(("soap:MustUnderstand", "The header {urn:x}tx had to be understood, and is not.", (object?)null))
        );
        Assert.That(current.FaultCode, Is.EqualTo("soap:MustUnderstand"));
        Assert.That(current.Text, Does.Contain("""<soap:NotUnderstood xmlns:h="urn:x" qname="h:tx" />"""));
        Assert.That(_bus.Messages, Is.Empty);
    }

    [TestCase("""<x:tx xmlns:x="urn:x" e:mustUnderstand="0"/>""")]
    [TestCase("""<x:tx xmlns:x="urn:x" e:mustUnderstand="1" e:actor="urn:another-node"/>""")]
    [TestCase("""<x:tx xmlns:x="urn:x"/>""")]
    public async Task Header_that_need_not_be_understood_is_passed_over(string header, CancellationToken cancellationToken)
    {
        await _bus.StartAsync();

        var answer = await _bus.CallAsync(SoapBus.Order, cancellationToken, header);

        Assert.That(answer.Status, Is.EqualTo(200), answer.Text);
    }

    [TestCase("1.1", "urn:shop/Notify"), TestCase("1.2", "urn:shop/Notify"), TestCase("1.1", "urn:other")]
    [Property("Case", "SOP-04")]
    public async Task Action_that_says_otherwise_than_the_child_of_Body_is_a_fault(
        string version,
        string action,
        CancellationToken cancellationToken
    )
    {
        await _bus.StartAsync();

        var answer = await _bus.CallAsync(
            SoapBus.Order,
            cancellationToken,
            version: version == "1.1" ? SoapVersion.V11 : SoapVersion.V12,
            action: action
        );

        Assert.That(answer.Code, Is.EqualTo("ESB-SOAP-ACTION"));
        Assert.That(_bus.Messages, Is.Empty);
    }

    [
        TestCase("""<Cancel xmlns="urn:shop"/>"""),
        TestCase("<Order/>"),
        TestCase("""<OrderResponse xmlns="urn:shop"><number>1</number></OrderResponse>""")
    ]
    [Property("Case", "SOP-05")]
    public async Task Unknown_operation_is_a_fault(string body, CancellationToken cancellationToken)
    {
        await _bus.StartAsync();

        var answer = await _bus.CallAsync(body, cancellationToken, action: "urn:shop/Order");

        Assert.That((answer.FaultCode, answer.Code), Is.EqualTo(("soap:Client", "ESB-SOAP-OPERATION")));
    }

    [TestCase(""), TestCase(SoapBus.Order + SoapBus.Order)]
    [Property("Case", "SOP-06")]
    public async Task Empty_Body_and_two_children_are_faults(string body, CancellationToken cancellationToken)
    {
        await _bus.StartAsync();

        var answer = await _bus.CallAsync(body, cancellationToken);

        Assert.That((answer.FaultCode, answer.Code), Is.EqualTo(("soap:Client", "ESB-SOAP-BODY")));
    }

    [Test, Property("Case", "SOP-07")]
    public async Task Address_for_answers_is_never_called_and_the_caller_gets_the_answer(CancellationToken cancellationToken)
    {
        await using var elsewhere = await Backend.StartAsync();
        await _bus.StartAsync();
        var headers = $"""
            <a:MessageID xmlns:a="{Wsa}">urn:uuid:1</a:MessageID><a:Action xmlns:a="{Wsa}" e:mustUnderstand="1">urn:shop/Order</a:Action>
            <a:ReplyTo xmlns:a="{Wsa}" e:mustUnderstand="1"><a:Address>{elsewhere.Url}</a:Address></a:ReplyTo><a:FaultTo xmlns:a="{Wsa}"><a:Address>{elsewhere.Url}</a:Address></a:FaultTo>
            """;

        var answer = await _bus.CallAsync(SoapBus.Order, cancellationToken, headers);
        var fault = await _bus.CallAsync("<nothing/>", cancellationToken, headers);

        Assert.That((answer.Status, fault.Code), Is.EqualTo((200, "ESB-SOAP-OPERATION")), answer.Text);
        Assert.That(answer.Text, Does.Contain($"""<wsa:RelatesTo xmlns:wsa="{Wsa}">urn:uuid:1</wsa:RelatesTo>"""));
        Assert.That(elsewhere.Requests, Is.Empty);
    }

    [Test, Property("Case", "SOP-07")]
    public async Task Action_of_WS_Addressing_that_means_another_operation_is_a_fault(CancellationToken cancellationToken)
    {
        await _bus.StartAsync();

        var answer = await _bus.CallAsync(SoapBus.Order, cancellationToken, $"""<a:Action xmlns:a="{Wsa}">urn:shop/Notify</a:Action>""");

        Assert.That(answer.Code, Is.EqualTo("ESB-SOAP-ACTION"));
    }

    [
        TestCase("multipart/related; boundary=b; type=\"application/xop+xml\""),
        TestCase("multipart/related"),
        TestCase("multipart/related; boundary=\"\"")
    ]
    [Property("Case", "SOP-09")]
    public async Task Attachments_are_refused_by_name_before_their_body_is_read(string contentType, CancellationToken cancellationToken)
    {
        await _bus.StartAsync();
        var parts = string.Concat(Enumerable.Repeat("--b\r\n\r\nx\r\n", 10_000));

        var answer = await _bus.PostAsync(parts, cancellationToken, contentType: contentType);

        Assert.That((answer.Status, answer.Code), Is.EqualTo((415, "ESB-SOAP-MULTIPART")));
    }

    [Test]
    public async Task Content_that_is_no_XML_is_refused(CancellationToken cancellationToken)
    {
        await _bus.StartAsync();

        var answer = await _bus.PostAsync(SoapBus.Envelope(SoapBus.Order), cancellationToken, contentType: "application/json");

        Assert.That((answer.Status, answer.Code), Is.EqualTo((415, "ESB-HTTP-CONTENTTYPE")));
    }

    [Test, Property("Case", "SOP-10")]
    public async Task Document_type_declaration_is_refused(CancellationToken cancellationToken)
    {
        await _bus.StartAsync();

        var answer = await _bus.PostAsync(
            $"<!DOCTYPE e [<!ENTITY x SYSTEM "
                + $"'file:///etc/passwd'>]>{SoapBus.Envelope(SoapBus.Order.Replace("A-1", "&x;", StringComparison.Ordinal))}",
            cancellationToken
        );

        Assert.That((answer.Status, answer.Code), Is.EqualTo((400, "ESB-XML-DTD")));
    }

    [Test, Property("Case", "SOP-12")]
    public async Task Exception_inside_is_a_fault_with_the_trace_alone(CancellationToken cancellationToken)
    {
        _bus.Answer = _ => throw new InvalidOperationException("secret of /etc/shadow");
        await _bus.StartAsync();

        var answer = await _bus.CallAsync(SoapBus.Order, cancellationToken);

        Assert.That((answer.Status, answer.FaultCode, answer.Code), Is.EqualTo((500, "soap:Server", "ESB-PROC-FAILED")));
        Assert.That(answer.Text, Does.Contain("<traceId>").And.Not.Contain("secret").And.Not.Contain("Exception"));
    }

    [Test]
    public async Task Headers_have_a_limit_of_their_own(CancellationToken cancellationToken)
    {
        await _bus.StartAsync(settings: """ "maxHeaderSize": "1KiB" """);

        var large = await _bus.CallAsync(SoapBus.Order, cancellationToken, $"<h>{new string('x', 1100)}</h>");
        var many = await _bus.CallAsync(SoapBus.Order, cancellationToken, string.Concat(Enumerable.Repeat("<h/>", 101)));
        var small = await _bus.CallAsync(SoapBus.Order, cancellationToken, "<h/>");

        Assert.That((large.Status, large.Code, many.Code, small.Status), Is.EqualTo((413, "ESB-SOAP-HEADERS", "ESB-SOAP-HEADERS", 200)));
    }

    [Test]
    public async Task Body_that_is_too_large_is_refused(CancellationToken cancellationToken)
    {
        await _bus.StartAsync(settings: """ "maxBodySize": "1KiB" """);

        var answer = await _bus.CallAsync(SoapBus.Order.Replace("A-1", new string('x', 1024), StringComparison.Ordinal), cancellationToken);

        Assert.That((answer.Status, answer.Code), Is.EqualTo((413, "ESB-BODY-SIZE")));
    }
}
