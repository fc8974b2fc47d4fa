using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Endpoints.Soap.Envelopes;

namespace Esb.Tests.Endpoints.Soap;

/// <summary>Calls of a service, and what its processes get.</summary>
[CancelAfter(30_000)]
public sealed class SoapInboundTests
{
    private SoapBus _bus = null!;

    [SetUp]
    public void CreateBus() => _bus = new SoapBus();

    [TearDown]
    public async Task StopBus() => await _bus.DisposeAsync();

    [TestCase("1.1", "text/xml")]
    [TestCase("1.2", "application/soap+xml")]
    public async Task Child_of_Body_is_the_message_and_the_answer_comes_in_the_version_of_the_caller(
        string version,
        string mediaType,
        CancellationToken cancellationToken
    )
    {
        await _bus.StartAsync();

        var answer = await _bus.CallAsync(SoapBus.Order, cancellationToken, version: VersionOf(version), action: "urn:shop/Order");

        Assert.Multiple(() =>
        {
            Assert.That((answer.Status, answer.MediaType, answer.Version), Is.EqualTo((200, mediaType, version)));
            Assert.That(answer.Text, Does.Contain($"<soap:Body>{SoapBus.OrderResponse}</soap:Body>"));
            Assert.That(_bus.Messages.Single().Body, Is.EqualTo(SoapBus.Order), "byte for byte");
            Assert.That(_bus.Messages.Single().Properties["soap.operation"], Is.EqualTo("Order"));
            Assert.That(_bus.Messages.Single().Properties["soap.action"], Is.EqualTo("urn:shop/Order"));
            Assert.That(_bus.Messages.Single().Properties["soap.version"], Is.EqualTo(version));
        });
    }

    [Test]
    public async Task Operation_without_an_answer_is_accepted_with_an_empty_202(CancellationToken cancellationToken)
    {
        await _bus.StartAsync();

        var answer = await _bus.CallAsync("""<Notice xmlns="urn:shop">sold out</Notice>""", cancellationToken);

        Assert.That((answer.Status, answer.Text), Is.EqualTo((202, "")));
        Assert.That(_bus.Messages.Single().Properties["soap.operation"], Is.EqualTo("Notify"));
    }

    [Test]
    public async Task Namespaces_in_scope_that_are_used_come_with_the_message(CancellationToken cancellationToken)
    {
        await _bus.StartAsync();
        const string envelope = """
            <?xml version="1.0"?>
            <!-- from an old client -->
            <s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:unused="urn:unused"
                xmlns="urn:shop">
              <s:Body><Order><sku xsi:type="xsd:string">Käse 𝄞 &gt;</sku>
                <quantity>2</quantity></Order>
              </s:Body>
            </s:Envelope>
            """;

        var answer = await _bus.PostAsync(envelope, cancellationToken);

        Assert.That(answer.Status, Is.EqualTo(200), answer.Text);
        Assert.That(
            _bus.Messages.Single().Body,
            Is.EqualTo(
                """
                <Order xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns="urn:shop"><sku xsi:type="xsd:string">Käse 𝄞 &gt;</sku>
                    <quantity>2</quantity></Order>
                """
            )
        );
    }

    [TestCase("\r\n"), TestCase("\r")]
    public async Task Place_of_the_child_does_not_depend_on_line_ends(string lineEnd, CancellationToken cancellationToken)
    {
        await _bus.StartAsync();
        var envelope = (
            $"<e:Envelope xmlns:e='{SoapVersion.V11.Namespace}'>@<!-- ü @ -->@<e:Body a='>@'>@<Order xmlns='urn:shop' "
            + $">@<sku>A@</sku><quantity>1</quantity></Order@>@</e:Body></e:Envelope>@"
        ).Replace("@", lineEnd, StringComparison.Ordinal);

        var answer = await _bus.PostAsync(envelope, cancellationToken);

        Assert.That(answer.Status, Is.EqualTo(200), answer.Text);
        Assert.That(
            _bus.Messages.Single().Body,
            Is.EqualTo(
                "<Order xmlns='urn:shop' >@<sku>A@</sku><quantity>1</quantity></Order@>".Replace("@", lineEnd, StringComparison.Ordinal)
            )
        );
    }

    [TestCase("iso-8859-1"), TestCase("utf-16")]
    public async Task Envelope_in_another_encoding_becomes_a_message_in_UTF8(string name, CancellationToken cancellationToken)
    {
        await _bus.StartAsync();
        var text =
            $"""<?xml version="1.0" encoding="{name}"?>{SoapBus.Envelope("""<Order xmlns="urn:shop"><sku>Käse</sku><quantity>2</quantity></Order>""")}""";
        var encoding = System.Text.Encoding.GetEncoding(name);
        using var content = new ByteArrayContent([.. encoding.GetPreamble(), .. encoding.GetBytes(text)]);
        content.Headers.TryAddWithoutValidation("Content-Type", "text/xml");

        using var response = await _bus.Http.Client.PostAsync(new Uri(_bus.Url), content, cancellationToken);

        Assert.That((int)response.StatusCode, Is.EqualTo(200), await response.Content.ReadAsStringAsync(cancellationToken));
        Assert.That(_bus.Messages.Single().Body, Does.Contain("<sku>Käse</sku>"));
    }

    [Test]
    public async Task Understood_headers_become_properties(CancellationToken cancellationToken)
    {
        await _bus.StartAsync(settings: """ "understands": ["customer"] """);

        var text = await _bus.CallAsync(
            SoapBus.Order,
            cancellationToken,
            """<c:customer xmlns:c="urn:c" e:mustUnderstand="1">ada &amp; bob</c:customer>"""
        );
        var element = await _bus.CallAsync(SoapBus.Order, cancellationToken, """<c:customer xmlns:c="urn:c"><c:id>7</c:id></c:customer>""");

        Assert.That((text.Status, element.Status), Is.EqualTo((200, 200)), text.Text);
        Assert.That(
            _bus.Messages.Select(message => message.Properties["soap.header.customer"]),
            Is.EqualTo(new[] { "ada & bob", """<c:customer xmlns:c="urn:c"><c:id>7</c:id></c:customer>""" })
        );
    }

    [TestCase("1.1", "soap:Client", 500)]
    [TestCase("1.2", "soap:Sender", 400)]
    public async Task Request_that_breaks_the_schema_is_a_fault_of_its_caller(
        string version,
        string code,
        int status,
        CancellationToken cancellationToken
    )
    {
        await _bus.StartAsync();

        var answer = await _bus.CallAsync(
            """<Order xmlns="urn:shop"><sku>A-1</sku><quantity>many</quantity></Order>""",
            cancellationToken,
            version: VersionOf(version)
        );

        Assert.That((answer.Status, answer.FaultCode, answer.Code), Is.EqualTo((status, code, "ESB-XML-SCHEMA")));
        Assert.That(answer.FaultReason, Does.Contain("many"));
        Assert.That(_bus.Messages, Is.Empty);
        Assert.That(_bus.Http.Audit.Facts.Select(fact => (fact.Kind, fact.Code)), Is.EqualTo([(AuditKind.Refused, "ESB-XML-SCHEMA")]));
    }

    [TestCase("<OrderResponse xmlns='urn:shop'><number>x</number></OrderResponse>")]
    [TestCase("<Order xmlns='urn:shop'><sku>A-1</sku><quantity>2</quantity></Order>")]
    [TestCase("{}")]
    [TestCase("")]
    public async Task Answer_that_breaks_the_WSDL_is_a_fault_of_the_service_and_recorded_as_failed(
        string body,
        CancellationToken cancellationToken
    )
    {
        _bus.Answer = context => context.Message = context.Message with { Body = MessageBody.FromText(body) };
        await _bus.StartAsync();

        var answer = await _bus.CallAsync(SoapBus.Order, cancellationToken);

        Assert.That((answer.Status, answer.FaultCode, answer.Code), Is.EqualTo((500, "soap:Server", "ESB-SOAP-ANSWER")));
        Assert.That(answer.Text, Does.Not.Contain("number>"), "the reason is for operators");
        Assert.That(_bus.Http.Audit.Facts.Select(fact => fact.Kind), Is.EqualTo([AuditKind.Received, AuditKind.Failed]));
    }

    [Test]
    public async Task Without_validation_anything_well_formed_passes_both_ways(CancellationToken cancellationToken)
    {
        _bus.Answer = context => context.Message = context.Message with { Body = MessageBody.FromText("<any/>") };
        await _bus.StartAsync(settings: """ "validate": false """);

        var answer = await _bus.CallAsync("""<Order xmlns="urn:shop"/>""", cancellationToken);

        Assert.That((answer.Status, answer.Child.ToString()), Is.EqualTo((200, "<any />")));
    }

    [TestCase(404, "soap:Client")]
    [TestCase(502, "soap:Server")]
    public async Task Status_of_an_error_that_a_process_sets_is_a_fault_with_its_answer_as_detail(
        int status,
        string code,
        CancellationToken cancellationToken
    )
    {
        _bus.Answer = context =>
        {
            context.SetProperty("status", (double)status);
            context.Message = context.Message with { Body = MessageBody.FromText("""<gone xmlns="urn:x">nothing</gone>""") };
        };
        await _bus.StartAsync();

        var answer = await _bus.CallAsync(SoapBus.Order, cancellationToken);

        Assert.That((answer.Status, answer.FaultCode, answer.Detail?.Name.ToString()), Is.EqualTo((500, code, "{urn:x}gone")));
    }

    [TestCase("<out xmlns='urn:x'>1</out>", "{urn:x}out")]
    [TestCase("out of <stock>", "{urn:esb}detail")]
    public async Task Failure_of_a_process_has_its_own_detail(string detail, string element, CancellationToken cancellationToken)
    {
        _bus.Answer = _ =>
            throw new EsbException("ESB-PROC-REFUSED", "Out of stock.", FaultKind.Invalid) { Status = 422, CallerDetail = detail };
        await _bus.StartAsync();

        var answer = await _bus.CallAsync(SoapBus.Order, cancellationToken, version: SoapVersion.V12);

        Assert.That(
            (answer.Status, answer.FaultCode, answer.FaultReason, answer.Detail?.Name.ToString()),
            Is.EqualTo((400, "soap:Sender", "Out of stock.", element))
        );
    }

    [Test]
    public async Task Wrapper_of_RPC_is_the_message_and_its_parts_are_validated(CancellationToken cancellationToken)
    {
        _bus.Answer = context =>
            context.Message = context.Message with
            {
                Body = MessageBody.FromText("<c:OrderResponse xmlns:c='urn:shop:calls'><number>7</number></c:OrderResponse>"),
            };
        await _bus.StartAsync(SomeWsdl.Rpc());

        var good = await _bus.CallAsync(
            "<c:Order xmlns:c='urn:shop:calls'><sku>A-1</sku><quantity>2</quantity></c:Order>",
            cancellationToken
        );
        var bad = await _bus.CallAsync(
            "<c:Order xmlns:c='urn:shop:calls'><sku>longer</sku><quantity>2</quantity></c:Order>",
            cancellationToken
        );

        Assert.That((good.Status, bad.Status, bad.Code), Is.EqualTo((200, 500, "ESB-XML-SCHEMA")), good.Text);
        Assert.That(_bus.Messages.Single().Body, Does.StartWith("<c:Order "));
    }

    [Test]
    public async Task WSDL_and_its_schemas_are_served_with_the_address_that_was_asked(CancellationToken cancellationToken)
    {
        _bus.Write("types/order.xsd", SomeWsdl.Schema);
        await _bus.StartAsync(
            SomeWsdl.Document(types: """<xsd:schema><xsd:import namespace="urn:shop" schemaLocation="types/order.xsd"/></xsd:schema>""")
        );

        using var request = new HttpRequestMessage(HttpMethod.Get, $"{_bus.Url}?WSDL") { Headers = { Host = "shop.example:81" } };
        using var response = await _bus.Http.Client.SendAsync(request, cancellationToken);
        var wsdl = await response.Content.ReadAsStringAsync(cancellationToken);
        var schema = await _bus.Http.Client.GetStringAsync(new Uri($"{_bus.Url}?xsd=1"), cancellationToken);

        Assert.Multiple(() =>
        {
            Assert.That(response.Content.Headers.ContentType!.MediaType, Is.EqualTo("text/xml"));
            Assert.That(
                wsdl,
                Does.Contain("location=\"http://shop.example:81/shop\"")
                    .And.Contain("schemaLocation=\"http://shop.example:81/shop?xsd=1\"")
                    .And.Not.Contain("nowhere.example")
            );
            Assert.That(schema, Does.Contain("OrderResponse"));
        });
    }

    [TestCase(""), TestCase("?xsd=2"), TestCase("?wsdl=1"), TestCase("?x=1")]
    public async Task Anything_else_is_asked_by_POST(string query, CancellationToken cancellationToken)
    {
        await _bus.StartAsync();

        using var response = await _bus.Http.Client.GetAsync(new Uri(_bus.Url + query), cancellationToken);

        Assert.That(((int)response.StatusCode, response.Content.Headers.Allow.Single()), Is.EqualTo((405, "POST")));
    }

    [Test]
    public async Task Overload_is_a_fault_with_503_and_Retry_After(CancellationToken cancellationToken)
    {
        await _bus.StartAsync();
        _bus.Http.AuditGate.Tell("the spool is full");

        var answer = await _bus.CallAsync(SoapBus.Order, cancellationToken, version: SoapVersion.V12);

        Assert.That((answer.Status, answer.FaultCode, answer.Version), Is.EqualTo((503, "soap:Receiver", "1.2")));
        Assert.That(answer.RetryAfter, Is.Not.Null);
    }

    [Test]
    public async Task Party_without_a_credential_gets_401_as_a_fault(CancellationToken cancellationToken)
    {
        _bus.Http.Variables["KEY"] = "0123456789abcdef0123456789abcdef";
        await _bus.StartAsync(
            settings: """ "authentication": ["api-key"] """,
            more: """ , "parties": { "p": { "apiKeys": ["${env:KEY}"] } } """
        );

        var answer = await _bus.CallAsync(SoapBus.Order, cancellationToken);

        Assert.That((answer.Status, answer.FaultCode, answer.Code), Is.EqualTo((401, "soap:Client", "ESB-HTTP-UNAUTHENTICATED")));
    }

    private static SoapVersion VersionOf(string name) => name == "1.1" ? SoapVersion.V11 : SoapVersion.V12;
}
