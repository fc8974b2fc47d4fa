using System.Net.Http.Headers;
using System.Text;
using Esb.Core.Endpoints;
using Esb.Core.Messages;
using Esb.Endpoints.Http.Listening;
using Esb.Endpoints.Soap;
using Esb.Tests;
using Esb.Tests.Endpoints.Http;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Esb.IntegrationTests.Speed;

/// <summary>Requests to a server of HTTP and of SOAP, beside HttpClient, and requests from HttpClient, beside Kestrel.</summary>
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

    [TestCase(1), TestCase(8)]
    public async Task Http_in(int atOnce, CancellationToken cancellationToken)
    {
        const string answer = """{"number":7}""";
        await using var plain = await Backend.StartAsync(AnswerWith("application/json", answer), remembers: false);
        await using var bus = new HttpBus { LogLevel = LogLevel.Warning };
        bus.With("answer", (_, _) => ValueTask.CompletedTask);
        bus.Read(
            $$""" "in": { "type": "http-inbound", "path": "/in", "mode": "request-reply", "process": "answer", "maxConcurrentCalls": {{atOnce}} } """
        );

        await CompareAnswersAsync(
            bus,
            "http-inbound",
            "Kestrel",
            atOnce,
            "application/json",
            $"\"{Body}\"",
            Some.Message(answer, contentType: "application/json"),
            new Uri(plain.Url),
            new Uri(bus.Address, "/in"),
            cancellationToken
        );
    }

    // The same HttpClient calls both, and is part of both rates.
    private static async Task CompareAnswersAsync(
        HttpBus bus,
        string type,
        string beside,
        int atOnce,
        string contentType,
        string request,
        EsbMessage reply,
        Uri plain,
        Uri ours,
        CancellationToken cancellationToken
    )
    {
        Assert.That(bus.Errors.All, Is.Empty);
        var listeners = bus.Services.GetRequiredService<HttpListeners>();
        await listeners.StartAsync(cancellationToken);
        await using var endpoint = bus
            .Services.GetRequiredService<EndpointModels>()
            .Inbound.Single()
            .Create!(bus.Services, new CountingIntake(() => { }, reply));
        await endpoint.StartAsync(cancellationToken);
        using var client = new HttpClient();

        await CompareAsync(
            type,
            beside,
            atOnce,
            Calls,
            () => Task.CompletedTask,
            () => SplitAsync(Calls, atOnce, _ => PostAsync(client, plain, contentType, request, cancellationToken)),
            () => SplitAsync(Calls, atOnce, _ => PostAsync(client, ours, contentType, request, cancellationToken))
        );
        await endpoint.StopAsync(cancellationToken);
        await listeners.StopAsync(new CancellationToken(canceled: true)).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
    }

    private static async Task<byte[]> PostAsync(
        HttpClient client,
        Uri url,
        string contentType,
        string request,
        CancellationToken cancellationToken
    )
    {
        using var content = new ByteArrayContent(Encoding.UTF8.GetBytes(request));
        content.Headers.ContentType = new MediaTypeHeaderValue(contentType);
        using var response = await client.PostAsync(url, content, cancellationToken);
        return await response.EnsureSuccessStatusCode().Content.ReadAsByteArrayAsync(cancellationToken);
    }

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
                    async _ => read(await PostAsync(client, new Uri(server.Url), contentType, request, cancellationToken))
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
