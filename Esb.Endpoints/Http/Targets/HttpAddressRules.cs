using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Endpoints.Http.Sending;
using Esb.Endpoints.Http.Servers;
using Esb.Endpoints.Http.Wire;

namespace Esb.Endpoints.Http.Targets;

/// <summary>The rules for the addresses of requests.</summary>
internal static class HttpAddressRules
{
    /// <summary>Reports the faults of the addresses and of the method of an endpoint.</summary>
    public static void Check(HttpTargetingConfig settings, string method, ConfigErrors errors)
    {
        if (settings.Url is { } address)
            Check(settings, "url", address, method, settings.AllowInsecure, errors);
        foreach (var url in settings.Urls)
            Check(settings, "urls", url, method, settings.AllowInsecure, errors);
        if (settings.Urls.Count > HttpServers.Most)
            errors.Add("ESB-CFG-RANGE", settings, "urls", $"expected at most {HttpServers.Most} addresses");
        if (settings.Urls.Count > 1 && settings.Urls.All(url => IsTarget(url, out _)))
            CheckServers(settings, errors);
    }

    /// <summary>Reports the faults of an address and of the method of its requests.</summary>
    public static void Check(
        SettingsRecord settings,
        string property,
        string address,
        string method,
        bool allowInsecure,
        ConfigErrors errors
    )
    {
        CheckAddress(settings, property, address, allowInsecure, errors);
        if (!HttpMethodNames.IsKnown(method))
            errors.Add("ESB-CFG-VALUE", settings, "method", HttpMethodNames.Expected(method));
    }

    /// <summary>Reports the faults of an address in a property of settings.</summary>
    public static void CheckAddress(SettingsRecord settings, string property, string address, bool allowInsecure, ConfigErrors errors)
    {
        if (!IsTarget(address, out var url))
            errors.Add("ESB-CFG-URL", settings, property, "expected an absolute http or https url, without user and fragment");
        else if (url.Scheme == "http" && !LoopbackHosts.Is(url.Host.Trim('[', ']')))
            errors.RefuseInsecure(settings, property, allowInsecure, "https://");
    }

    private static void CheckServers(HttpTargetingConfig settings, ConfigErrors errors)
    {
        var servers = settings.Urls.Select(url => new Uri(url)).ToList();
        if (servers.Select(url => (url.Scheme, url.PathAndQuery)).Distinct().Count() > 1)
            errors.Add("ESB-CFG-URL", settings, "urls", "expected addresses with the same scheme, path and query");
        if (servers.Select(url => url.Authority).Distinct().Count() < servers.Count)
            errors.Add("ESB-CFG-URL", settings, "urls", "expected each server once");
    }

    private static bool IsTarget(string address, [System.Diagnostics.CodeAnalysis.NotNullWhen(true)] out Uri? url) =>
        Uri.TryCreate(address, UriKind.Absolute, out url) && url is { Scheme: "http" or "https", UserInfo: "", Fragment: "" };
}
