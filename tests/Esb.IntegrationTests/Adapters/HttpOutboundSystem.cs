using System.Collections.Concurrent;
using System.Text;
using Esb.Tests.Endpoints.Http;
using Microsoft.AspNetCore.Http;

namespace Esb.IntegrationTests.Adapters;

/// <summary>A server of HTTP that takes items.</summary>
internal sealed class HttpOutboundSystem : AdapterSystem
{
    private readonly ConcurrentQueue<Arrival> _taken = new();
    private Backend _server = null!;

    public override bool IsInbound => false;

    // A refusal is an answer: the message is a dead letter, to be replayed.
    public override bool ChecksCredential => false;

    public override string Endpoint(string credential) =>
        $$"""
            "type": "http-outbound", "url": "http://127.0.0.1:{{Proxy.Port}}/items", "authentication": { "type": "basic", "user": "esb", "password": "${env:{{credential}}}" }
            """;

    public override Task<IReadOnlyList<Arrival>> ArrivedAsync(CancellationToken cancellationToken) =>
        Task.FromResult<IReadOnlyList<Arrival>>([.. _taken]);

    protected override async Task<int?> PrepareAsync()
    {
        _server = await Backend.StartAsync(TakeAsync, remembers: false);
        return new Uri(_server.Url).Port;
    }

    protected override (string Right, string Wrong) Credentials() => ("right", "wrong");

    protected override Task StopAsync() => _server.DisposeAsync().AsTask();

    private async Task TakeAsync(HttpContext context)
    {
        using var reader = new StreamReader(context.Request.Body);
        var body = await reader.ReadToEndAsync(context.RequestAborted);
        var credential = $"Basic {Convert.ToBase64String(Encoding.UTF8.GetBytes("esb:right"))}";
        if (context.Request.Headers.Authorization != credential)
            context.Response.StatusCode = StatusCodes.Status401Unauthorized;
        else
            _taken.Enqueue(new Arrival(context.Request.Headers["Idempotency-Key"].ToString(), NumberIn(body)));
    }
}
