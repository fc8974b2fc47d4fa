using Esb.Tests;
using Esb.Tests.Endpoints.Http;
using Esb.Tests.Endpoints.Soap;
using Microsoft.Extensions.Logging;

namespace Esb.IntegrationTests.Speed;

/// <summary>Calls of a SOAP service, beside Kestrel with XmlReader.</summary>
public sealed partial class AdapterSpeedTests
{
    [TestCase(1, true), TestCase(8, true), TestCase(1, false), TestCase(8, false)]
    public async Task Soap_in(int atOnce, bool validates, CancellationToken cancellationToken)
    {
        await using var plain = await Backend.StartAsync(PlainSoap.AnswerAsync, remembers: false);
        await using var bus = new SoapBus();
        bus.Http.LogLevel = LogLevel.Warning;
        bus.Read(settings: $""" "validate": {(validates ? "true" : "false")}, "maxConcurrentCalls": {atOnce} """);

        await CompareAnswersAsync(
            bus.Http,
            validates ? "soap-inbound, validated" : "soap-inbound",
            "Kestrel, XmlReader",
            atOnce,
            "text/xml",
            PlainSoap.Envelope(PlainSoap.Order),
            Some.Message(PlainSoap.Answer, contentType: "application/xml"),
            new Uri(plain.Url),
            new Uri(bus.Url),
            cancellationToken
        );
    }
}
