using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Messages;
using Esb.Endpoints.Http.Credentials;
using Esb.Endpoints.Http.Targets;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Http;

/// <summary>The type <c>http-outbound</c>.</summary>
internal sealed class HttpOutboundType(EsbConfiguration configuration, HttpTargets targets, TimeProvider time, ILoggerFactory loggers) : OutboundEndpointType<HttpOutboundConfig>
{
    protected override Func<IOutboundAdapter>? Prepare(HttpOutboundConfig settings, ConfigErrors errors)
    {
        Check(settings, errors);
        return () => Create(settings);
    }

    private void Check(HttpOutboundConfig settings, ConfigErrors errors)
    {
        HttpAddressRules.Check(settings, settings.Url, settings.Method, settings.AllowInsecure, errors);
        TargetSecurityCheck.Check(settings, errors, time.GetUtcNow());
        foreach (var target in settings.Targets.Values) CheckTarget(settings, target, errors);
        if (settings.TargetsFile is { } file) LiveSettings<HttpTargetConfig>.Read(file, configuration.Variables, (target, found) => CheckTarget(settings, target, found), errors);
    }

    private HttpOutboundAdapter Create(HttpOutboundConfig settings)
    {
        var maxBodyBytes = (settings.MaxBodySize ?? configuration.Section<LimitsConfig>("limits").MaxBodySize).Bytes;
        return new HttpOutboundAdapter(settings, targets, new HttpDestinations(settings, LiveOf(settings)), maxBodyBytes, time);
    }

    private static void CheckTarget(HttpOutboundConfig endpoint, HttpTargetConfig target, ConfigErrors errors) =>
        HttpAddressRules.Check(target, target.Url, target.Method ?? endpoint.Method, endpoint.AllowInsecure, errors);

    private LiveSettings<HttpTargetConfig>? LiveOf(HttpOutboundConfig settings) => settings.TargetsFile is { } file
        ? new LiveSettings<HttpTargetConfig>(
            file, configuration.Variables, (target, errors) => CheckTarget(settings, target, errors), time, loggers.CreateLogger<LiveSettings<HttpTargetConfig>>())
        : null;
}

/// <summary>What the instances of one http-outbound endpoint share. The connections are shared with relays, and outlive it.</summary>
internal sealed class HttpOutboundAdapter(HttpOutboundConfig config, HttpTargets targets, HttpDestinations destinations, long maxBodyBytes, TimeProvider time) : IOutboundAdapter
{
    public IOutboundEndpoint CreateInstance() => new HttpOutboundEndpoint(config, targets.Of(config), destinations, maxBodyBytes, time);

    public void Resize(int poolSize, int processingThreads) => targets.Resize(config.Name, poolSize);

    public Core.Errors.EndpointException? FailureOf(EsbMessage answer) => HttpAnswers.FailureOf(config.Name, answer);

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;
}
