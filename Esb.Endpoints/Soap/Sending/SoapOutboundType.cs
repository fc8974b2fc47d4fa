using Esb.Configuration;
using Esb.Content.Xml;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Expressions;
using Esb.Endpoints.Http.Credentials;
using Esb.Endpoints.Http.Sending;
using Esb.Endpoints.Http.Targets;
using Esb.Endpoints.Soap.Envelopes;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Endpoints.Soap.Sending;

/// <summary>The type <c>soap-outbound</c>.</summary>
internal sealed class SoapOutboundType(LimitsConfig limits, XmlInput xml, IExpressionCompiler expressions, TimeProvider time)
    : OutboundEndpointType<SoapOutboundConfig>
{
    private const int MaxHeaders = 1000;

    protected override CreateOutbound? Compile(SoapOutboundConfig settings, ConfigErrors errors)
    {
        HttpAddressRules.Check(settings, "POST", errors);
        TargetSecurityCheck.Check(settings, errors, time.GetUtcNow());
        var action = settings.Action is { } value ? expressions.Compile(value, errors) : null;
        if (settings.Action is not null && action is null)
            return null;
        var maxBodyBytes = (settings.MaxBodySize ?? limits.MaxBodySize).Bytes;
        var envelopes = new EnvelopeReader(xml, MaxHeaders, maxBodyBytes);
        return services => new SoapOutboundAdapter(
            settings,
            services.GetRequiredService<HttpTargets>(),
            action,
            envelopes,
            xml,
            maxBodyBytes,
            services.GetRequiredService<TimeProvider>()
        );
    }
}

/// <summary>State shared by the instances of one soap-outbound endpoint. Its connections outlive it.</summary>
internal sealed class SoapOutboundAdapter(
    SoapOutboundConfig config,
    HttpTargets targets,
    IMessageValue? action,
    EnvelopeReader envelopes,
    XmlInput xml,
    long maxBodyBytes,
    TimeProvider time
) : IOutboundAdapter
{
    public IOutboundEndpoint CreateInstance() =>
        new SoapOutboundEndpoint(
            config,
            targets.Of(config),
            new SoapRequestWriter(config, action, xml, maxBodyBytes, time),
            new SoapAnswers(config, envelopes, xml, time),
            maxBodyBytes
        );

    public void Resize(int poolSize, int processingThreads) => targets.Resize(config.Name, poolSize);

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;
}
