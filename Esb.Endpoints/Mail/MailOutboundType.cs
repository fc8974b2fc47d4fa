using Esb.Configuration;
using Esb.Content.Transforms;
using Esb.Core.Certificates;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Expressions;
using Esb.Core.Storage;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Mail;

/// <summary>The type <c>mail-outbound</c>.</summary>
internal sealed class MailOutboundType(
    IExpressionCompiler expressions,
    MapModels maps,
    BusIdentity bus,
    LimitsConfig limits,
    TimeProvider time
) : OutboundEndpointType<MailOutboundConfig>
{
    protected override CreateOutbound? Compile(MailOutboundConfig settings, ConfigErrors errors)
    {
        Check(settings, errors);
        if (MailPlan.Compile(settings, expressions, maps, errors) is not { } plan)
            return null;
        return services => new MailOutboundAdapter(
            settings,
            new MailWriter(settings, plan, map => Find(services, map), bus.Name, limits.MaxBodySize.Bytes),
            new MailConnector(settings, services.GetRequiredService<TimeProvider>()),
            services.GetRequiredService<IEndpointMarks>(),
            services.GetRequiredService<ILogger<MailOutboundEndpoint>>()
        );
    }

    // Maps belong to a revision, which the endpoint may outlive.
    private static IMessageMap Find(IServiceProvider services, string map) =>
        services.GetRequiredService<IRevisions>().Current.Services.GetRequiredService<IMapCatalog>().Find(map)!;

    private void Check(MailOutboundConfig settings, ConfigErrors errors)
    {
        if (!MailUrl.Is(settings.Url, out var url))
            errors.Add("ESB-CFG-URL", settings, "url", "expected smtp://host:port or smtps://host:port, without user and path");
        else if (settings.Tls.Mode == MailTlsMode.None)
            CheckPlain(settings, url, errors);
        if (settings.User is null != settings.Password is null)
            errors.Add("ESB-CFG-VALUE", settings, settings.User is null ? "user" : "password", "expected user and password, or neither");
        if (settings.IsSound("to") && settings.To.Count == 0)
            errors.Add("ESB-CFG-VALUE", settings, "to", "expected at least one recipient");
        foreach (
            var domain in settings.Allow.Where(domain =>
                Uri.CheckHostName(domain.StartsWith("*.", StringComparison.Ordinal) ? domain[2..] : domain) != UriHostNameType.Dns
            )
        )
            errors.Add(
                "ESB-CFG-VALUE",
                settings,
                "allow",
                $"'{Clipped.To(40, domain)}' is not a domain: expected example.com or *.example.com"
            );
        if (settings.Tls.Ca is not { } ca)
            return;
        try
        {
            CertificateFiles.LoadAuthorities(ca, time.GetUtcNow());
        }
        catch (CertificateException ex)
        {
            errors.Add("ESB-CFG-CERT", settings.Tls, "ca", ex.Message);
        }
    }

    private static void CheckPlain(MailOutboundConfig settings, Uri url, ConfigErrors errors)
    {
        if (url.Scheme == MailUrl.Implicit)
            errors.Add("ESB-CFG-VALUE", settings, "tls", "smtps is always encrypted: expected smtp://");
        else if (!LoopbackHosts.Is(url.Host.Trim('[', ']')))
            errors.RefuseInsecure(settings, "tls", settings.User is null, "\"required\"");
    }
}

/// <summary>State shared by the instances of one mail-outbound endpoint. Each instance has a connection of its own.</summary>
internal sealed class MailOutboundAdapter(
    MailOutboundConfig config,
    MailWriter writer,
    MailConnector connector,
    IEndpointMarks marks,
    ILogger<MailOutboundEndpoint> logger
) : IOutboundAdapter
{
    public IOutboundEndpoint CreateInstance() => new MailOutboundEndpoint(config, writer, connector, marks, logger);

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;
}
