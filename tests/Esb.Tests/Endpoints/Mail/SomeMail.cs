using Esb.Content.Transforms;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Endpoints.Mail;
using Esb.Tests.Endpoints.Contracts;
using Esb.Tests.Fakes;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Tests.Endpoints.Mail;

/// <summary>Builds mail endpoints for tests.</summary>
internal static class SomeMail
{
    public const int MaxBodyBytes = 256 * 1024;

    public static MailOutboundConfig Config(int port) =>
        new()
        {
            Name = "mailer",
            Path = "endpoints.mailer",
            Url = $"smtp://127.0.0.1:{port}",
            Tls = new MailTlsConfig { Mode = MailTlsMode.None },
            From = "shop@example.com",
            To = ["a@example.com"],
            Subject = "Order {message.id}",
        };

    public static MailOutboundAdapter Create(
        MailOutboundConfig config,
        KeptMarks? marks = null,
        TimeProvider? time = null,
        MapModels? models = null,
        IMapCatalog? maps = null
    )
    {
        var plan = MailPlan.Compile(config, new PlainExpressions(), models!, new ConfigErrors())!;
        return new MailOutboundAdapter(
            config,
            new MailWriter(config, plan, map => maps!.Find(map)!, "shop-bus", MaxBodyBytes),
            new MailConnector(config, time ?? TimeProvider.System),
            marks ?? new KeptMarks(),
            NullLogger<MailOutboundEndpoint>.Instance
        );
    }

    /// <summary>Sends a message by an instance of its own, and returns the failure; null if it was sent.</summary>
    public static async Task<EndpointException?> TryAsync(
        this IOutboundAdapter adapter,
        EsbMessage message,
        CancellationToken cancellationToken
    )
    {
        var instance = adapter.CreateInstance();
        using var disposable = instance as IDisposable;
        try
        {
            await instance.SendAsync(message, cancellationToken);
            return null;
        }
        catch (EndpointException ex)
        {
            return ex;
        }
    }
}
