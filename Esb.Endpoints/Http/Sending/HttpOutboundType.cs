using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Expressions;
using Esb.Core.Messages;
using Esb.Endpoints.Http.Credentials;
using Esb.Endpoints.Http.Targets;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Http.Sending;

/// <summary>The type <c>http-outbound</c>.</summary>
internal sealed class HttpOutboundType(
    ReferenceVariables variables,
    LimitsConfig limits,
    IExpressionCompiler expressions,
    TimeProvider time
) : OutboundEndpointType<HttpOutboundConfig>
{
    protected override CreateOutbound? Compile(HttpOutboundConfig settings, ConfigErrors errors)
    {
        Check(settings, errors);
        return RequestAddress.Compile(settings, expressions, errors) is { } address
            ? services => Create(settings, address, services)
            : null;
    }

    private void Check(HttpOutboundConfig settings, ConfigErrors errors)
    {
        HttpAddressRules.Check(settings, settings.Method, errors);
        TargetSecurityCheck.Check(settings, errors, time.GetUtcNow());
        foreach (var target in settings.Targets.Values)
            CheckTarget(settings, target, errors);
        if (settings.TargetsFile is { } file)
            LiveSettings<HttpTargetConfig>.Read(file, variables.Values, (target, found) => CheckTarget(settings, target, found), errors);
    }

    private HttpOutboundAdapter Create(HttpOutboundConfig settings, RequestAddress address, IServiceProvider services) =>
        new(
            settings,
            services.GetRequiredService<HttpTargets>(),
            new HttpDestinations(settings, LiveOf(settings, services)),
            address,
            (settings.MaxBodySize ?? limits.MaxBodySize).Bytes,
            services.GetRequiredService<TimeProvider>()
        );

    private static void CheckTarget(HttpOutboundConfig endpoint, HttpTargetConfig target, ConfigErrors errors) =>
        HttpAddressRules.Check(target, "url", target.Url, target.Method ?? endpoint.Method, endpoint.AllowInsecure, errors);

    private LiveSettings<HttpTargetConfig>? LiveOf(HttpOutboundConfig settings, IServiceProvider services) =>
        settings.TargetsFile is { } file
            ? new LiveSettings<HttpTargetConfig>(
                file,
                variables.Values,
                (target, errors) => CheckTarget(settings, target, errors),
                services.GetRequiredService<TimeProvider>(),
                services.GetRequiredService<ILogger<LiveSettings<HttpTargetConfig>>>()
            )
            : null;
}

/// <summary>State shared by the instances of one http-outbound endpoint. Its connections are shared with relays and outlive it.</summary>
internal sealed class HttpOutboundAdapter(
    HttpOutboundConfig config,
    HttpTargets targets,
    HttpDestinations destinations,
    RequestAddress address,
    long maxBodyBytes,
    TimeProvider time
) : IOutboundAdapter
{
    public IOutboundEndpoint CreateInstance() =>
        new HttpOutboundEndpoint(config, targets.Of(config), destinations, address, maxBodyBytes, time);

    public void Resize(int poolSize, int processingThreads) => targets.Resize(config.Name, poolSize);

    public Core.Errors.EndpointException? FailureOf(EsbMessage answer) => HttpAnswers.FailureOf(config.Name, answer);

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;
}
