using System.Text;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Endpoints.Http;

/// <summary>A server of the outside, on a free port of this machine.</summary>
internal sealed class Backend : IAsyncDisposable
{
    private readonly WebApplication _application;

    private Backend(WebApplication application, int port)
    {
        _application = application;
        Url = $"http://127.0.0.1:{port}/backend";
    }

    public string Url { get; }

    /// <summary>The requests that came, as text: first line, headers, body.</summary>
    public List<string> Requests { get; } = [];

    /// <param name="answer">Answers a request; by default with its body.</param>
    /// <param name="port">The port; by default a free one.</param>
    /// <param name="remembers">False to leave requests to <paramref name="answer"/> alone.</param>
    public static async Task<Backend> StartAsync(Func<HttpContext, Task>? answer = null, int? port = null, bool remembers = true)
    {
        var place = port ?? FreePorts.Next();
        var builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions());
        builder.Services.AddLogging();
        builder
            .WebHost.UseKestrelCore()
            .ConfigureKestrel(kestrel =>
            {
                kestrel.ListenLocalhost(place);
                kestrel.Limits.MaxRequestBodySize = null;
            });
        var backend = new Backend(builder.Build(), place);
        backend._application.Run(async context =>
        {
            if (remembers)
                await backend.RememberAsync(context);
            await (answer ?? EchoAsync)(context);
        });
        await backend._application.StartAsync();
        return backend;
    }

    public async ValueTask DisposeAsync()
    {
        using var now = new CancellationTokenSource(TimeSpan.FromMilliseconds(200));
        await _application.StopAsync(now.Token);
        await _application.DisposeAsync();
    }

    private static async Task EchoAsync(HttpContext context)
    {
        context.Response.ContentType = context.Request.ContentType;
        context.Request.Body.Position = 0;
        await context.Request.Body.CopyToAsync(context.Response.Body, context.RequestAborted);
    }

    private async Task RememberAsync(HttpContext context)
    {
        var request = context.Request;
        var body = new MemoryStream();
        await request.Body.CopyToAsync(body, context.RequestAborted);
        request.Body = body;
        var headers = string.Join("\n", request.Headers.Select(header => $"{header.Key}: {header.Value}"));
        lock (Requests)
            Requests.Add(
                $"{request.Method} "
                    + $"{request.Path}{request.QueryString}\n{headers}\n\n{(body.Length < 100_000 ? Encoding.UTF8.GetString(body.ToArray()) : body.Length)}"
            );
    }
}
