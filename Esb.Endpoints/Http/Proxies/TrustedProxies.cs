using System.Net;
using Esb.Core.Messages;
using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http.Proxies;

/// <summary>Takes the word of trusted proxies for who the caller is: then that is the remote address of a request. Thread-safe.</summary>
/// <remarks>Of a list of addresses the last one is the caller that is no trusted proxy itself: everything before it, anybody may have written.</remarks>
internal sealed class TrustedProxies(IReadOnlyList<string> networks)
{
    public const string For = "X-Forwarded-For";
    public const string Proto = "X-Forwarded-Proto";
    public const string Host = "X-Forwarded-Host";

    private readonly IPNetwork[] _networks = [.. networks.Select(TryParse).OfType<IPNetwork>()]; // what is none was refused

    /// <summary>A network, or the one that is an address; null for what is neither.</summary>
    public static IPNetwork? TryParse(string text)
    {
        if (IPNetwork.TryParse(text, out var network)) return network;
        return IPAddress.TryParse(text, out var address) ? new IPNetwork(address, address.AddressFamily == System.Net.Sockets.AddressFamily.InterNetwork ? 32 : 128) : null;
    }

    /// <summary>Changes nothing where the request comes from somebody else.</summary>
    public void Resolve(HttpContext context)
    {
        if (_networks.Length == 0 || context.Connection.RemoteIpAddress is not { } peer || !IsTrusted(peer)) return;
        var headers = context.Request.Headers;
        var said = TextOf(headers[For].ToString());
        context.Features.Set(new ForwardedRequest(peer, said, TextOf(headers[Host].ToString())));
        if (said is not null && FindCaller(said) is { } caller) context.Connection.RemoteIpAddress = caller;
        if (headers[Proto].ToString() is "http" or "https") context.Request.Scheme = headers[Proto].ToString();
    }

    private IPAddress? FindCaller(string said)
    {
        IPAddress? caller = null;
        foreach (var hop in said.Split(',', StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries).Reverse())
        {
            if (AddressOf(hop) is not { } address) break;
            caller = address;
            if (!IsTrusted(address)) break;
        }

        return caller;
    }

    // Some write a port behind it.
    private static IPAddress? AddressOf(string hop)
    {
        if (IPAddress.TryParse(hop, out var address)) return address;
        return IPEndPoint.TryParse(hop, out var endpoint) ? endpoint.Address : null;
    }

    private bool IsTrusted(IPAddress address)
    {
        if (address.IsIPv4MappedToIPv6) address = address.MapToIPv4();
        foreach (var network in _networks)
        {
            if (network.Contains(address)) return true;
        }

        return false;
    }

    private static string? TextOf(string value) => value.Length > 0 && HeaderRules.IsValue(value) ? value : null;
}
