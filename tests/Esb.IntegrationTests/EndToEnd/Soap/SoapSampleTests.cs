using System.Net;
using System.Text;

namespace Esb.IntegrationTests.EndToEnd.Soap;

/// <summary>The sample of SOAP: a service, the same for callers of REST, and a REST service for callers of SOAP.</summary>
public sealed class SoapSampleTests
{
    private const string Namespace = "http://schemas.xmlsoap.org/soap/envelope/";

    private SoapSampleHost _host = null!;

    [OneTimeSetUp]
    public async Task StartHost() => _host = await SoapSampleHost.StartAsync(CancellationToken.None);

    [OneTimeTearDown]
    public async Task StopHost() => await _host.DisposeAsync();

    [Test, CancelAfter(60_000), Property("Case", "F125")]
    public async Task Service_is_described_and_called(CancellationToken cancellationToken)
    {
        var wsdl = await _host.Process.Client.GetStringAsync(_host.At("/calculator?wsdl"), cancellationToken);
        var (status, answer) = await CallAsync(
            "/calculator",
            """<Add xmlns="urn:calculator"><a>1.5</a><b>2</b></Add>""",
            cancellationToken
        );

        Assert.That(wsdl, Does.Contain($"location=\"{_host.At("/calculator")}\""));
        Assert.That(
            (status, answer),
            Is.EqualTo(
                (
                    HttpStatusCode.OK,
                    $"""<soap:Envelope xmlns:soap="{Namespace}"><soap:Body><AddResponse xmlns="urn:calculator"><result>3.5</result></AddResponse></soap:Body></soap:Envelope>"""
                )
            )
        );
    }

    [Test, CancelAfter(60_000)]
    public async Task Refusal_of_a_process_is_a_fault_with_the_detail_of_the_WSDL(CancellationToken cancellationToken)
    {
        var (status, answer) = await CallAsync(
            "/calculator",
            """<Divide xmlns="urn:calculator"><a>1</a><b>0</b></Divide>""",
            cancellationToken
        );

        Assert.That(status, Is.EqualTo(HttpStatusCode.InternalServerError));
        Assert.That(
            answer,
            Does.Contain("<faultcode>soap:Client</faultcode><faultstring>Nothing can be divided by zero.</faultstring>")
                .And.Contain("""<detail><DivisionByZero xmlns="urn:calculator"><dividend>1</dividend></DivisionByZero></detail>""")
        );
    }

    [TestCase("/sum?a=1&b=2.5", HttpStatusCode.OK, """{ "sum": 3.5 }""")]
    [TestCase("/sum?a=x&b=2", HttpStatusCode.BadRequest, "Sender: ")]
    [CancelAfter(60_000)]
    public async Task Service_is_there_for_callers_of_REST(
        string address,
        HttpStatusCode status,
        string body,
        CancellationToken cancellationToken
    )
    {
        using var response = await _host.Process.Client.GetAsync(_host.At(address), cancellationToken);

        Assert.That(response.StatusCode, Is.EqualTo(status));
        Assert.That(await response.Content.ReadAsStringAsync(cancellationToken), Does.StartWith(body));
    }

    [Test, CancelAfter(60_000)]
    public async Task REST_service_is_there_for_callers_of_SOAP(CancellationToken cancellationToken)
    {
        var (status, answer) = await CallAsync(
            "/customers",
            """<GetCustomer xmlns="urn:customers"><id>42</id></GetCustomer>""",
            cancellationToken
        );

        Assert.That(status, Is.EqualTo(HttpStatusCode.OK), answer);
        Assert.That(answer, Does.Contain("<id>42</id><name>Customer 42 &amp; Co</name>"));
    }

    private async Task<(HttpStatusCode Status, string Answer)> CallAsync(string path, string body, CancellationToken cancellationToken)
    {
        using var content = new StringContent(
            $"""<e:Envelope xmlns:e="{Namespace}"><e:Body>{body}</e:Body></e:Envelope>""",
            Encoding.UTF8,
            "text/xml"
        );
        using var response = await _host.Process.Client.PostAsync(_host.At(path), content, cancellationToken);
        return (response.StatusCode, await response.Content.ReadAsStringAsync(cancellationToken));
    }
}
