using Esb.Core.Errors;
using Esb.Endpoints.Http.Receiving;
using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http.Listening;

/// <summary>The hosts that a listener serves: names with or without a port, or all hosts of a domain, <c>*.example.com</c>. Empty means
/// any. Thread-safe.</summary>
internal sealed class AllowedHosts(IReadOnlyList<string> patterns)
{
    private readonly HostString[] _patterns = [.. patterns.Select(pattern => new HostString(pattern))];

    public static bool IsPattern(string text) =>
        Uri.TryCreate($"http://{(text.StartsWith("*.", StringComparison.Ordinal) ? text[2..] : text)}/", UriKind.Absolute, out var uri)
        && uri is { PathAndQuery: "/", UserInfo: "", Fragment: "" }
        && uri.Host.Length > 0
        && !text.Contains('/', StringComparison.Ordinal);

    /// <exception cref="EsbException"><c>ESB-HTTP-HOST</c>: the request is for another host.</exception>
    public void Require(HttpRequest request)
    {
        if (_patterns.Length == 0)
            return;
        var host = request.Host;
        foreach (var pattern in _patterns)
        {
            if ((pattern.Port is null || pattern.Port == host.Port) && IsNamed(pattern.Host, host.Host))
                return;
        }

        throw HttpProblems.Of(StatusCodes.Status400BadRequest, "ESB-HTTP-HOST", "This server does not answer for that host.");
    }

    private static bool IsNamed(string pattern, string host) =>
        pattern.StartsWith("*.", StringComparison.Ordinal)
            ? host.Length > pattern.Length - 1 && host.EndsWith(pattern[1..], StringComparison.OrdinalIgnoreCase)
            : host.Equals(pattern, StringComparison.OrdinalIgnoreCase);
}
