using System.Text;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Endpoints.Soap;
using Esb.Endpoints.Soap.Security;
using Esb.Tests.Endpoints.Http;
using Microsoft.AspNetCore.Http;

namespace Esb.Tests.Endpoints.Soap;

/// <summary>Calls of services that answer as they like.</summary>
[CancelAfter(30_000)]
public sealed class SoapOutboundTests
{
    private const string V11 = "http://schemas.xmlsoap.org/soap/envelope/";
    private const string V12 = "http://www.w3.org/2003/05/soap-envelope";

    private HttpBus _bus = null!;
    private Backend _backend = null!;
    private Func<HttpContext, Task> _answer = null!;

    [SetUp]
    public async Task StartBackend()
    {
        _bus = new HttpBus { Types = services => services.AddSoapEndpoints(), Variables = { ["PASSWORD"] = "a<b" } };
        _answer = context =>
            AnswerAsync(
                context,
                200,
                "text/xml",
                $"<x:Envelope xmlns:x='{V11}' xmlns:y='urn:y'><x:Header/><x:Body><y:done>Käse</y:done></x:Body></x:Envelope>"
            );
        _backend = await Backend.StartAsync(context => _answer(context));
    }

    [TearDown]
    public async Task StopBackend()
    {
        await _bus.DisposeAsync();
        await _backend.DisposeAsync();
    }

    [Test]
    public async Task Message_goes_as_the_child_of_Body_and_the_child_of_the_answer_comes_back(CancellationToken cancellationToken)
    {
        var answer = await SendAsync(
            """ "action": { "template": "urn:{header.x-op}" } """,
            cancellationToken,
            Some.Message("<?xml version='1.0'?><!-- old --><a:order xmlns:a='urn:a'>Käse</a:order>\n") with
            {
                Headers = MessageHeaders.Empty.With("x-op", "order"),
            }
        );

        Assert.Multiple(() =>
        {
            Assert.That(answer!.Body.ReadText(), Is.EqualTo("<y:done xmlns:y=\"urn:y\">Käse</y:done>"));
            Assert.That((answer.ContentType, answer.Headers[EsbHeaders.Status]), Is.EqualTo(("application/xml", "200")));
            Assert.That(
                _backend.Requests.Single(),
                Does.Contain("SOAPAction: \"urn:order\"")
                    .And.Contain("Content-Type: text/xml; charset=utf-8")
                    .And.Contain("Via: 1.1 esb")
                    .And.Not.Contain("Idempotency-Key")
            );
            Assert.That(
                _backend.Requests.Single(),
                Does.EndWith(
                    $"<soap:Envelope xmlns:soap=\"{V11}\"><soap:Body><a:order xmlns:a='urn:a'>Käse</a:order></soap:Body></soap:Envelope>"
                )
            );
        });
    }

    [Test]
    public async Task Version_1_2_has_its_action_in_the_content_type(CancellationToken cancellationToken)
    {
        await SendAsync(""" "version": "1.2", "action": "urn:order" """, cancellationToken);

        Assert.That(
            _backend.Requests.Single(),
            Does.Contain("Content-Type: application/soap+xml; charset=utf-8; action=\"urn:order\"")
                .And.Contain(V12)
                .And.Not.Contain("SOAPAction")
        );
    }

    [Test]
    public async Task User_name_token_is_new_in_each_request_and_its_digest_right(CancellationToken cancellationToken)
    {
        const string settings = """ "security": { "userName": "shop", "password": "${env:PASSWORD}", "digest": true } """;

        await SendAsync(settings, cancellationToken);
        await SendAsync(settings, cancellationToken);

        var headers = _backend.Requests.Select(request =>
            Encoding.UTF8.GetBytes(
                request[
                    request.IndexOf("<wsse:Security", StringComparison.Ordinal)..(
                        request.IndexOf("</wsse:Security>", StringComparison.Ordinal) + 16
                    )
                ]
                    .Replace(" soap:mustUnderstand=\"1\"", "", StringComparison.Ordinal)
            )
        );
        var tokens = headers
            .Select(header => UsernameToken.Read(header, new Esb.Content.Xml.XmlInput(new Esb.Content.Xml.XmlLimits()))!)
            .ToList();
        Assert.That(tokens.Select(token => Convert.ToBase64String(token.Nonce)).Distinct().Count(), Is.EqualTo(2));
        Assert.That(
            tokens.Select(token => token.Password),
            Is.EqualTo(tokens.Select(token => Convert.ToBase64String(PasswordDigest.Of(token.Nonce, token.Created, "a<b"))))
        );
    }

    [Test]
    public async Task Password_is_sent_as_text_unless_told_otherwise(CancellationToken cancellationToken)
    {
        await SendAsync(""" "security": { "userName": "shop", "password": "${env:PASSWORD}" } """, cancellationToken);

        Assert.That(
            _backend.Requests.Single(),
            Does.Contain($"<wsse:Password Type=\"{WssNames.PasswordText}\">a&lt;b</wsse:Password>").And.Contain("soap:mustUnderstand=\"1\"")
        );
    }

    [
        TestCase("Client", false),
        TestCase("Client.Authentication", false),
        TestCase("Server", true),
        TestCase("Server.Busy", true),
        TestCase("MustUnderstand", false)
    ]
    [Property("Case", "SOP-11")]
    public void Fault_is_a_failure_with_its_parts_as_properties(string code, bool isTransient, CancellationToken cancellationToken)
    {
        _answer = context =>
            AnswerAsync(
                context,
                500,
                "text/xml",
                $"<s:Envelope xmlns:s='{V11}'><s:Body><s:Fault><faultcode>s:{code}</faultcode><faultstring>No such "
                    + $"order.</faultstring><detail><o:id xmlns:o='urn:o'>7</o:id></detail></s:Fault></s:Body></s:Envelope>"
            );

        var failure = Fail(cancellationToken);

        Assert.Multiple(() =>
        {
            Assert.That((failure.Code, failure.IsTransient), Is.EqualTo(("ESB-SOAP-FAULT", isTransient)));
            Assert.That(failure.Message, Does.Contain("No such order."));
            Assert.That(failure.Properties["soap.fault.code"], Is.EqualTo(code));
            Assert.That(failure.Properties["soap.fault.reason"], Is.EqualTo("No such order."));
            Assert.That(failure.Properties["soap.fault.detail"], Is.EqualTo("<o:id xmlns:o=\"urn:o\">7</o:id>"));
        });
    }

    [TestCase("s:Sender", false), TestCase("s:Receiver", true), TestCase("x:Receiver", false, Description = "of another namespace")]
    [Property("Case", "SOP-11")]
    public void Fault_of_version_1_2_is_one_too(string code, bool isTransient, CancellationToken cancellationToken)
    {
        _answer = context =>
            AnswerAsync(
                context,
                400,
                "application/soap+xml",
                $"<s:Envelope xmlns:s='{V12}' "
                    + $"xmlns:x='urn:x'><s:Body><s:Fault><s:Code><s:Value>{code}</s:Value></s:Code><s:Reason><s:Text "
                    + $"xml:lang='en'>No.</s:Text></s:Reason></s:Fault></s:Body></s:Envelope>"
            );

        var failure = Fail(cancellationToken);

        Assert.That(
            (
                failure.Code,
                failure.IsTransient,
                failure.Properties["soap.fault.reason"],
                failure.Properties.ContainsKey("soap.fault.detail")
            ),
            Is.EqualTo(("ESB-SOAP-FAULT", isTransient, "No.", false))
        );
    }

    [TestCase(200, "text/html", "<html><body>It works!</body></html>", false)]
    [TestCase(502, "text/html", "<html>", true)]
    [TestCase(404, "text/plain", "gone", false)]
    [TestCase(200, "text/xml", "", false)]
    [TestCase(500, null, "", true)]
    [TestCase(200, "text/xml", "<html/>", false)]
    [TestCase(200, "text/xml", "<!DOCTYPE x><x/>", false)]
    [TestCase(503, "text/xml", "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body/></s:Envelope>", true)]
    [Property("Case", "SOP-11")]
    public void Answer_that_is_no_envelope_is_a_failure(
        int status,
        string? type,
        string body,
        bool isTransient,
        CancellationToken cancellationToken
    )
    {
        _answer = context => AnswerAsync(context, status, type, body);

        var failure = Fail(cancellationToken);

        Assert.That((failure.Code, failure.IsTransient), Is.EqualTo(("ESB-SOAP-TARGET", isTransient)), failure.Message);
        Assert.That(failure.Message, Does.Contain($"status {status}").And.Not.Contain("It works"));
    }

    [TestCase(202, ""), TestCase(200, """ "oneWay": true """)]
    [Property("Case", "SOP-11")]
    public async Task Acceptance_without_an_answer_is_an_empty_message(int status, string settings, CancellationToken cancellationToken)
    {
        _answer = context => AnswerAsync(context, status, null, "");

        var answer = await SendAsync(settings, cancellationToken);

        Assert.That((answer!.Body.Length, answer.Headers[EsbHeaders.Status]), Is.EqualTo((0, $"{status}")));
    }

    [
        TestCase("{}", "", "ESB-XML-SYNTAX"),
        TestCase("<!DOCTYPE a><a/>", "", "ESB-XML-DTD"),
        TestCase("<a/>", """ "action": "a\"b" """, "ESB-SOAP-ACTION")
    ]
    public void Message_that_cannot_be_sent_fails_without_a_request(
        string body,
        string settings,
        string code,
        CancellationToken cancellationToken
    )
    {
        var failure = Assert.ThrowsAsync<EndpointException>(() => SendAsync(settings, cancellationToken, Some.Message(body)))!;

        Assert.That((failure.Code, failure.IsUnsent, failure.IsTransient, _backend.Requests.Count), Is.EqualTo((code, true, false, 0)));
    }

    private EndpointException Fail(CancellationToken cancellationToken) =>
        Assert.ThrowsAsync<EndpointException>(() => SendAsync("", cancellationToken))!;

    private async Task<EsbMessage?> SendAsync(string settings, CancellationToken cancellationToken, EsbMessage? message = null)
    {
        _bus.Read($$""" "out": { "type": "soap-outbound", "url": "{{_backend.Url}}"{{(settings.Length > 0 ? ", " : "")}}{{settings}} } """);
        await using var adapter = OutboundEndpoints.Create(_bus, "out");
        return await adapter.CreateInstance().SendAsync(message ?? Some.Message("<order/>"), cancellationToken);
    }

    private static async Task AnswerAsync(HttpContext context, int status, string? type, string body)
    {
        context.Response.StatusCode = status;
        if (type is not null)
            context.Response.ContentType = type;
        if (body.Length > 0)
            await context.Response.WriteAsync(body);
    }
}
