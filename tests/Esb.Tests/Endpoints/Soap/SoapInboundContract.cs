using Esb.Core.Endpoints;
using Esb.Core.Topics;
using Esb.Delivery.Intake.Holds;
using Esb.Endpoints.Http.Listening;
using Esb.Tests.Endpoints.Contracts.Inbound;
using Microsoft.Extensions.DependencyInjection;
using NSubstitute;

namespace Esb.Tests.Endpoints.Soap;

[TestFixture]
internal sealed class SoapInboundContract : InboundEndpointContract
{
    private const string Wsdl = """
        <wsdl:definitions xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:t="urn:w" targetNamespace="urn:w">
        <wsdl:types><xsd:schema><xsd:element name="order" type="xsd:string"/></xsd:schema></wsdl:types>
        <wsdl:message name="in"><wsdl:part name="p" element="order"/></wsdl:message>
        <wsdl:portType name="P"><wsdl:operation name="Order"><wsdl:input message="t:in"/></wsdl:operation></wsdl:portType>
        <wsdl:binding name="B" type="t:P"><soap:binding transport="http://schemas.xmlsoap.org/soap/http"/>
          <wsdl:operation name="Order"><soap:operation soapAction=""/><wsdl:input><soap:body use="literal"/></wsdl:input></wsdl:operation></wsdl:binding>
        </wsdl:definitions>
        """;

    private SoapBus _bus = null!;

    protected override bool Waits => false;

    protected override IntakeHold IntakeHold => _bus.Http.Services.GetRequiredService<IntakeHolds>().Of("shop");

    [SetUp]
    public void CreateBus() => _bus = new SoapBus(gate: AuditGate);

    [TearDown]
    public async Task StopBus()
    {
        await _bus
            .Http.Services.GetRequiredService<HttpListeners>()
            .StopAsync(new CancellationToken(canceled: true))
            .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        await _bus.DisposeAsync();
    }

    // The listener without the endpoints of the bus: they would hand over to its own intake.
    protected override async Task<IInboundEndpoint> CreateAsync()
    {
        _bus.Read(
            Wsdl,
            $""" "mode": "one-way", "publish": "orders.new", "maxConcurrentCalls": {AtOnce}, "maxBodySize": "{MaxBodyBytes + SoapBus.Envelope("").Length}B" """
        );
        Assert.That(_bus.Http.Errors.All, Is.Empty);
        await _bus.Http.Services.GetRequiredService<HttpListeners>().StartAsync(CancellationToken.None);
        return _bus.Http.Services.GetRequiredService<EndpointModels>().Inbound.Single().Create!(_bus.Http.Services, Intake);
    }

    protected override int AddedBytes => In("").Length;

    protected override string SentIn(string body) =>
        body.StartsWith("<order>", StringComparison.Ordinal) && !body.Contains("Käse", StringComparison.Ordinal)
            ? body["<order>".Length..^"</order>".Length]
            : body;

    protected override async Task<SenderVerdict> SendAsync(string body, CancellationToken cancellationToken)
    {
        var answer = await _bus.PostAsync(SoapBus.Envelope(In(body)), cancellationToken);
        return answer.Status switch
        {
            202 => SenderVerdict.Accepted,
            503 => SenderVerdict.TryAgain,
            >= 400 and <= 500 when answer.FaultCode == "soap:Client" => SenderVerdict.Refused,
            _ => throw new AssertionException($"It was answered with {answer.Status}: {answer.Text}"),
        };
    }

    protected override void Overload(bool isOverloaded) =>
        _bus.Http.Transport.Status.Returns(new TransportStatus(IsReady: !isOverloaded, isOverloaded ? "low on memory" : null));

    // The suite sends texts, which are no XML.
    private static string In(string body) => body.StartsWith('<') ? body : $"<order>{body}</order>";
}
