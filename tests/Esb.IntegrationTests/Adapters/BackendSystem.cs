using System.Collections.Concurrent;
using System.Globalization;
using System.Text;
using Esb.Tests.Endpoints.Http;
using Microsoft.AspNetCore.Http;

namespace Esb.IntegrationTests.Adapters;

/// <summary>A server of HTTP that takes items of a user with a password.</summary>
internal abstract class BackendSystem : AdapterSystem
{
    private readonly ConcurrentQueue<Arrival> _taken = new();
    private Backend _server = null!;

    public override bool IsInbound => false;

    public override bool GivesRefusedUp => true;

    /// <summary>The settings that every endpoint of HTTP has.</summary>
    protected string Settings(string credential) =>
        $$"""
            "url": "http://127.0.0.1:{{Proxy.Port}}/items",
            "authentication": { "type": "basic", "user": "esb", "password": "${env:{{credential}}}" }
            """;

    public override Task<IReadOnlyList<Arrival>> ArrivedAsync(CancellationToken cancellationToken) =>
        Task.FromResult<IReadOnlyList<Arrival>>([.. _taken]);

    public override Task KillAsync() => _server.DisposeAsync().AsTask();

    public override async Task StartAgainAsync() =>
        _server = await Backend.StartAsync(TakeAsync, new Uri(_server.Url).Port, remembers: false);

    protected override async Task<int?> PrepareAsync()
    {
        _server = await Backend.StartAsync(TakeAsync, remembers: false);
        return new Uri(_server.Url).Port;
    }

    protected override (string Right, string Wrong) Credentials() => ("right", "wrong");

    protected override Task StopAsync() => _server.DisposeAsync().AsTask();

    /// <summary>Returns the id by which the server knows copies of a request.</summary>
    protected abstract string IdOf(HttpRequest request, int number);

    private async Task TakeAsync(HttpContext context)
    {
        using var reader = new StreamReader(context.Request.Body);
        var number = NumberIn(await reader.ReadToEndAsync(context.RequestAborted));
        var credential = $"Basic {Convert.ToBase64String(Encoding.UTF8.GetBytes("esb:right"))}";
        if (context.Request.Headers.Authorization != credential)
        {
            context.Response.StatusCode = StatusCodes.Status401Unauthorized;
            return;
        }

        _taken.Enqueue(new Arrival(IdOf(context.Request, number), number));
        context.Response.StatusCode = StatusCodes.Status202Accepted;
    }
}

/// <summary>Requests with an Idempotency-Key.</summary>
internal sealed class HttpOutboundSystem : BackendSystem
{
    public override string Endpoint(string credential) => $"\"type\": \"http-outbound\", {Settings(credential)}";

    protected override string IdOf(HttpRequest request, int number) => request.Headers["Idempotency-Key"].ToString();
}

/// <summary>Calls of a one-way operation of a SOAP service.</summary>
internal sealed class SoapOutboundSystem : BackendSystem
{
    public override string ContentType => "application/xml";

    public override string Endpoint(string credential) => $"\"type\": \"soap-outbound\", \"oneWay\": true, {Settings(credential)}";

    public override string BodyOf(int number) => $"""<Item xmlns="urn:items"><number>{number}</number></Item>""";

    // An envelope has no id of the message: copies are known by their content alone.
    protected override string IdOf(HttpRequest request, int number) => number.ToString(CultureInfo.InvariantCulture);
}
