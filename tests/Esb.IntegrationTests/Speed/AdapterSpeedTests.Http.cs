using System.Net.Http.Headers;
using System.Text;
using Esb.Endpoints.Soap;
using Esb.Tests;
using Esb.Tests.Endpoints.Http;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;

namespace Esb.IntegrationTests.Speed;

/// <summary>Requests to a server of HTTP and of SOAP, beside HttpClient.</summary>
public sealed partial class AdapterSpeedTests
{
    private const int Calls = 8_000;

    [TestCase(1), TestCase(8)]
    public Task Http_out(int atOnce, CancellationToken cancellationToken) =>
        CompareCallsAsync(
            "http-outbound",
            "HttpClient",
            atOnce,
            "application/json",
            """{"number":7}""",
            $"\"{Body}\"",
            request: $"\"{Body}\"",
            read: _ => { },
            cancellationToken
        );

    [TestCase(1), TestCase(8)]
    public Task Soap_out(int atOnce, CancellationToken cancellationToken) =>
        CompareCallsAsync(
            "soap-outbound",
            "HttpClient, XmlReader",
            atOnce,
            "text/xml",
            PlainSoap.Envelope(PlainSoap.Answer),
            PlainSoap.Order,
            request: PlainSoap.Envelope(PlainSoap.Order),
            read: answer => Assert.That(PlainSoap.ChildOf(answer), Is.EqualTo("OrderResponse")),
            cancellationToken
        );

    // Each call sends a body, and reads the answer to its end.
    private static async Task CompareCallsAsync(
        string type,
        string beside,
        int atOnce,
        string contentType,
        string answer,
        string message,
        string request,
        Action<byte[]> read,
        CancellationToken cancellationToken
    )
    {
        await using var server = await Backend.StartAsync(AnswerWith(contentType, answer), remembers: false);
        await using var bus = new HttpBus { Types = services => services.AddSoapEndpoints(), LogLevel = LogLevel.Warning };
        bus.Read($$""" "out": { "type": "{{type}}", "url": "{{server.Url}}", "poolSize": {{atOnce}} } """);
        await using var adapter = OutboundEndpoints.Create(bus, "out");
        using var client = new HttpClient();

        await CompareAsync(
            type,
            beside,
            atOnce,
            Calls,
            () => Task.CompletedTask,
            () =>
                SplitAsync(
                    Calls,
                    atOnce,
                    async _ =>
                    {
                        using var content = new ByteArrayContent(Encoding.UTF8.GetBytes(request));
                        content.Headers.ContentType = new MediaTypeHeaderValue(contentType);
                        using var response = await client.PostAsync(new Uri(server.Url), content, cancellationToken);
                        read(await response.EnsureSuccessStatusCode().Content.ReadAsByteArrayAsync(cancellationToken));
                    }
                ),
            () => SendAllAsync(adapter, Calls, atOnce, () => Some.Message(message, contentType: contentType), cancellationToken)
        );
    }

    // The least that a server can be: the request read to its end, a fixed answer.
    private static Func<HttpContext, Task> AnswerWith(string contentType, string answer)
    {
        var bytes = Encoding.UTF8.GetBytes(answer);
        return async context =>
        {
            await context.Request.Body.CopyToAsync(Stream.Null, context.RequestAborted);
            (context.Response.ContentType, context.Response.ContentLength) = (contentType, bytes.Length);
            await context.Response.Body.WriteAsync(bytes, context.RequestAborted);
        };
    }
}
