using System.Security.Cryptography.X509Certificates;
using Esb.Tests.Topics;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Endpoints.Http.Tls;

/// <summary>A server of the outside that shows any certificate, as a bus never would.</summary>
internal sealed class ExpiredServer : IAsyncDisposable
{
    private readonly WebApplication _application;

    private ExpiredServer(WebApplication application, int port) => (_application, Url) = (application, $"https://127.0.0.1:{port}/");

    public string Url { get; }

    public static async Task<ExpiredServer> StartAsync(IssuedCertificate shown)
    {
        var port = FreePorts.Next();
        var builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions());
        builder.Services.AddLogging();
        var certificate = X509CertificateLoader.LoadPkcs12FromFile(shown.Bundle, IssuedCertificate.Passphrase);
        builder
            .WebHost.UseKestrelCore()
            .UseKestrelHttpsConfiguration()
            .ConfigureKestrel(kestrel => kestrel.ListenLocalhost(port, listen => listen.UseHttps(certificate)));
        var server = new ExpiredServer(builder.Build(), port);
        server._application.Run(context => context.Response.WriteAsync("should not have been asked"));
        await server._application.StartAsync();
        return server;
    }

    public async ValueTask DisposeAsync() => await _application.DisposeAsync();
}
