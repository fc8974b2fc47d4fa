using System.Net.Http.Headers;
using System.Text;
using Esb.Core.Endpoints;
using Esb.Endpoints.Http.Listening;
using Esb.Tests;
using Esb.Tests.Endpoints.Http;
using Esb.Tests.Endpoints.Soap;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Esb.IntegrationTests.Speed;

/// <summary>Calls of a SOAP service, beside Kestrel with XmlReader; the same HttpClient calls both, and is part of both rates.</summary>
public sealed partial class AdapterSpeedTests
{
    [TestCase(1, true), TestCase(8, true), TestCase(1, false), TestCase(8, false)]
    public async Task Soap_in(int atOnce, bool validates, CancellationToken cancellationToken)
    {
        await using var plain = await Backend.StartAsync(PlainSoap.AnswerAsync, remembers: false);
        await using var bus = new SoapBus();
        bus.Http.LogLevel = LogLevel.Warning;
        bus.Read(settings: $""" "validate": {(validates ? "true" : "false")}, "maxConcurrentCalls": {atOnce} """);
        Assert.That(bus.Http.Errors.All, Is.Empty);
        var listeners = bus.Http.Services.GetRequiredService<HttpListeners>();
        await listeners.StartAsync(cancellationToken);
        var reply = Some.Message(PlainSoap.Answer, contentType: "application/xml");
        await using var endpoint = bus
            .Http.Services.GetRequiredService<EndpointModels>()
            .Inbound.Single()
            .Create!(bus.Http.Services, new CountingIntake(() => { }, reply));
        await endpoint.StartAsync(cancellationToken);
        using var client = new HttpClient();

        await CompareAsync(
            validates ? "soap-inbound, validated" : "soap-inbound",
            "Kestrel, XmlReader",
            atOnce,
            Calls,
            () => Task.CompletedTask,
            () => CallAsync(new Uri(plain.Url)),
            () => CallAsync(new Uri(bus.Url))
        );
        await endpoint.StopAsync(cancellationToken);
        await listeners.StopAsync(new CancellationToken(canceled: true)).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);

        Task CallAsync(Uri url) =>
            SplitAsync(
                Calls,
                atOnce,
                async _ =>
                {
                    using var content = new ByteArrayContent(Encoding.UTF8.GetBytes(PlainSoap.Envelope(PlainSoap.Order)));
                    content.Headers.ContentType = new MediaTypeHeaderValue("text/xml");
                    using var response = await client.PostAsync(url, content, cancellationToken);
                    await response.EnsureSuccessStatusCode().Content.ReadAsByteArrayAsync(cancellationToken);
                }
            );
    }
}
