using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Endpoints.Http.Wire;

namespace Esb.Endpoints.Http.Targets;

/// <summary>The rules for the addresses of requests.</summary>
internal static class HttpAddressRules
{
    /// <summary>Reports the faults of the properties <c>url</c> and <c>method</c> of settings.</summary>
    public static void Check(SettingsRecord settings, string address, string method, bool allowInsecure, ConfigErrors errors)
    {
        if (!IsTarget(address, out var url)) errors.Add("ESB-CFG-URL", settings, "url", "expected an absolute http or https url, without user and fragment");
        else if (url.Scheme == "http" && !LoopbackHosts.Is(url.Host.Trim('[', ']'))) errors.RefuseInsecure(settings, "url", allowInsecure, "https://");
        if (!HttpMethodNames.IsKnown(method)) errors.Add("ESB-CFG-VALUE", settings, "method", HttpMethodNames.Expected(method));
    }

    private static bool IsTarget(string address, [System.Diagnostics.CodeAnalysis.NotNullWhen(true)] out Uri? url) =>
        Uri.TryCreate(address, UriKind.Absolute, out url) && url is { Scheme: "http" or "https", UserInfo: "", Fragment: "" };
}
