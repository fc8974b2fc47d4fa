using System.Net;
using Esb.Core.Messages;
using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http.Proxies;

/// <summary>Accepts the caller that a trusted proxy reports, and makes it the remote address of the request. Thread-safe.</summary>
/// <remarks>In a list of addresses, the caller is the last address outside the trusted proxies; anyone may have written the entries before
/// it.</remarks>
internal sealed class TrustedProxies(IReadOnlyList<string> networks)
{
    public const string For = "X-Forwarded-For";
    public const string Proto = "X-Forwarded-Proto";
    public const string Host = "X-Forwarded-Host";

    private readonly IPNetwork[] _networks = [.. networks.Select(TryParse).OfType<IPNetwork>()]; // invalid entries were refused earlier

    /// <summary>Parses a network or a single address; null if the text is neither.</summary>
    public static IPNetwork? TryParse(string text)
    {
        if (IPNetwork.TryParse(text, out var network))
            return network;
        return IPAddress.TryParse(text, out var address)
            ? new IPNetwork(address, address.AddressFamily == System.Net.Sockets.AddressFamily.InterNetwork ? 32 : 128)
            : null;
    }

    /// <summary>Resolves the caller; changes nothing if the request does not come from a trusted proxy.</summary>
    public void Resolve(HttpContext context)
    {
        if (_networks.Length == 0 || context.Connection.RemoteIpAddress is not { } peer || !IsTrusted(peer))
            return;
        var headers = context.Request.Headers;
        var said = TextOf(headers[For].ToString());
        context.Features.Set(new ForwardedRequest(peer, said, TextOf(headers[Host].ToString())));
        if (said is not null && FindCaller(said) is { } caller)
            context.Connection.RemoteIpAddress = caller;
        if (headers[Proto].ToString() is "http" or "https")
            context.Request.Scheme = headers[Proto].ToString();
    }

    private IPAddress? FindCaller(string said)
    {
        IPAddress? caller = null;
        foreach (var hop in said.Split(',', StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries).Reverse())
        {
            if (AddressOf(hop) is not { } address)
                break;
            caller = address;
            if (!IsTrusted(address))
                break;
        }

        return caller;
    }

    // Some proxies append a port.
    private static IPAddress? AddressOf(string hop)
    {
        if (IPAddress.TryParse(hop, out var address))
            return address;
        return IPEndPoint.TryParse(hop, out var endpoint) ? endpoint.Address : null;
    }

    private bool IsTrusted(IPAddress address)
    {
        if (address.IsIPv4MappedToIPv6)
            address = address.MapToIPv4();
        foreach (var network in _networks)
        {
            if (network.Contains(address))
                return true;
        }

        return false;
    }

    private static string? TextOf(string value) => value.Length > 0 && HeaderRules.IsValue(value) ? value : null;
}
