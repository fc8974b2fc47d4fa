using System.Collections.Concurrent;
using System.Globalization;
using Esb.Tests.Endpoints.Http;
using Microsoft.AspNetCore.Http;

namespace Esb.IntegrationTests.Adapters;

/// <summary>A service of SOAP with a one-way operation.</summary>
internal sealed class SoapOutboundSystem : AdapterSystem
{
    private readonly ConcurrentQueue<Arrival> _taken = new();
    private Backend _server = null!;

    public override bool IsInbound => false;

    // A refusal is an answer: the message is a dead letter, to be replayed.
    public override bool ChecksCredential => false;

    public override string ContentType => "application/xml";

    public override string Endpoint(string credential) =>
        $$"""
            "type": "soap-outbound", "url": "http://127.0.0.1:{{Proxy.Port}}/items", "oneWay": true
            """;

    public override string BodyOf(int number) => $"""<Item xmlns="urn:items"><number>{number}</number></Item>""";

    public override Task<IReadOnlyList<Arrival>> ArrivedAsync(CancellationToken cancellationToken) =>
        Task.FromResult<IReadOnlyList<Arrival>>([.. _taken]);

    protected override async Task<int?> PrepareAsync()
    {
        _server = await Backend.StartAsync(TakeAsync, remembers: false);
        return new Uri(_server.Url).Port;
    }

    protected override Task StopAsync() => _server.DisposeAsync().AsTask();

    // An envelope has no id of the message: copies are known by their content alone.
    private async Task TakeAsync(HttpContext context)
    {
        using var reader = new StreamReader(context.Request.Body);
        var number = NumberIn(await reader.ReadToEndAsync(context.RequestAborted));
        _taken.Enqueue(new Arrival(number.ToString(CultureInfo.InvariantCulture), number));
        context.Response.StatusCode = StatusCodes.Status202Accepted;
    }
}
