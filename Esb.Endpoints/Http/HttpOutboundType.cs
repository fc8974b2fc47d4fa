using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Messages;
using Esb.Endpoints.Http.Credentials;

namespace Esb.Endpoints.Http;

/// <summary>The type <c>http-outbound</c>.</summary>
internal sealed class HttpOutboundType(EsbConfiguration configuration, HttpTargets targets, TimeProvider time) : OutboundEndpointType<HttpOutboundConfig>
{
    protected override void Check(HttpOutboundConfig settings, ConfigErrors errors)
    {
        if (!IsTarget(settings.Url))
            errors.Add("ESB-CFG-URL", settings, "url", "expected an absolute http or https url, without user and fragment");
        else if (Uri.TryCreate(settings.Url, UriKind.Absolute, out var url) && url.Scheme == "http" && !LoopbackHosts.Is(url.Host.Trim('[', ']')))
            errors.RefuseInsecure(settings, "url", settings.AllowInsecure, "https://");
        TargetSecurityCheck.Check(settings, errors, time.GetUtcNow());
        if (!HttpMethodNames.IsKnown(settings.Method))
            errors.Add("ESB-CFG-VALUE", settings, "method", HttpMethodNames.Expected(settings.Method));
    }

    protected override IOutboundAdapter Create(HttpOutboundConfig settings)
    {
        var maxBodyBytes = (settings.MaxBodySize ?? configuration.Section<LimitsConfig>("limits").MaxBodySize).Bytes;
        return new HttpOutboundAdapter(settings, targets, maxBodyBytes, time);
    }

    private static bool IsTarget(string url) =>
        Uri.TryCreate(url, UriKind.Absolute, out var uri) && uri is { Scheme: "http" or "https", UserInfo: "", Fragment: "" };
}

/// <summary>What the instances of one http-outbound endpoint share. The connections are shared with relays, and outlive it.</summary>
internal sealed class HttpOutboundAdapter(HttpOutboundConfig config, HttpTargets targets, long maxBodyBytes, TimeProvider time) : IOutboundAdapter
{
    public IOutboundEndpoint CreateInstance() => new HttpOutboundEndpoint(config, targets.Of(config), maxBodyBytes, time);

    public Core.Errors.EndpointException? FailureOf(EsbMessage answer) => HttpAnswers.FailureOf(config.Name, answer);

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;
}
