using System.Globalization;
using System.Net;
using Esb.Core.Configuration;

namespace Esb.Endpoints.Http;

/// <summary>Where a listener listens.</summary>
internal sealed record ListenerAddress(IPAddress Address, int Port)
{
    private const string Expected = "expected http://ADDRESS:PORT with an IP address or localhost, such as \"http://127.0.0.1:8080\"";

    /// <summary>Reads the url of a listener; null after an error was added.</summary>
    public static ListenerAddress? Parse(ListenerConfig config, ConfigErrors errors)
    {
        var url = config.Url;
        if (IsHttp(url) && PortOf(url) is var port && port is < 1 or > 65535)
        {
            Refuse(config, errors, "ESB-CFG-PORT", "expected a port from 1 to 65535");
            return null;
        }

        if (Uri.TryCreate(url, UriKind.Absolute, out var uri) && uri is { Scheme: "http", PathAndQuery: "/", UserInfo: "" } && AddressOf(uri) is { } address)
            return new ListenerAddress(address, uri.Port);
        Refuse(config, errors, "ESB-CFG-URL", Expected);
        return null;
    }

    private static bool IsHttp(string url) => url.StartsWith("http://", StringComparison.OrdinalIgnoreCase);

    // Read by hand: Uri refuses 70000 without saying why. Without a port it is that of HTTP; -1 for what is no number.
    private static int PortOf(string url)
    {
        var authority = url["http://".Length..].Split('/')[0];
        var colon = authority.LastIndexOf(':');
        if (colon < 0 || authority.EndsWith(']')) return 80;
        return int.TryParse(authority.AsSpan(colon + 1), NumberStyles.None, CultureInfo.InvariantCulture, out var port) ? port : -1;
    }

    private static IPAddress? AddressOf(Uri uri)
    {
        if (uri.Host == "localhost") return IPAddress.Loopback;
        return IPAddress.TryParse(uri.Host.Trim('[', ']'), out var address) ? address : null;
    }

    private static void Refuse(ListenerConfig config, ConfigErrors errors, string code, string expected) =>
        errors.Add(new ConfigError(code, $"{config.Path}.url", $"\"{config.Url}\"", expected, config.Origin));
}
