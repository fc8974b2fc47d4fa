using Esb.Core.Endpoints;
using Esb.Core.Messages;
using Esb.Endpoints.Http.Wire;
using Microsoft.Extensions.Primitives;

namespace Esb.Endpoints.Http.Relaying;

/// <summary>The headers forwarded in one direction of a relay, and their names. Thread-safe.</summary>
/// <param name="endpoints">The endpoints. Only explicit header lists apply: the default is meant for messages.</param>
/// <param name="rewrites">The rewrites of the endpoints, in order.</param>
internal sealed class PassingHeaders(IReadOnlyList<EndpointConfig> endpoints, IReadOnlyList<HeaderRewrite> rewrites)
{
    private readonly HeaderRules[] _rules =
    [
        .. endpoints
            .Where(endpoint => !ReferenceEquals(endpoint.Headers, HeaderRules.DefaultPatterns))
            .Select(endpoint => new HeaderRules(endpoint.Headers)),
    ];
    private readonly HeaderRewrite[] _rewrites = [.. rewrites.Where(rewrite => !rewrite.IsEmpty)];

    /// <summary>The headers that are always set.</summary>
    public KeyValuePair<string, string>[] Set { get; } =
    [.. rewrites.Aggregate(MessageHeaders.Empty, (headers, rewrite) => rewrite.Apply(headers))];

    /// <summary>Returns the name under which a header is forwarded; null if it is not.</summary>
    /// <param name="name">The name of the header.</param>
    /// <param name="connection">The sender's <c>Connection</c> field.</param>
    public string? NameOf(string name, StringValues connection)
    {
        if (HttpFields.EndsHere(name, connection) || HeaderRules.IsReserved(name) || !IsListed(name))
            return null;
        var passed = name;
        foreach (var rewrite in _rewrites)
        {
            if (rewrite.NameOf(passed) is not { } next)
                return null;
            passed = next;
        }

        return passed;
    }

    private bool IsListed(string name)
    {
        foreach (var rules in _rules)
        {
            if (!rules.Allows(name) && !IsOfBody(name))
                return false;
        }

        return true;
    }

    // They describe the body, which is forwarded unchanged and is unreadable without them.
    private static bool IsOfBody(string name) =>
        name.Equals("Content-Type", StringComparison.OrdinalIgnoreCase)
        || name.Equals("Content-Encoding", StringComparison.OrdinalIgnoreCase);
}
