using Esb.Core.Endpoints;
using Esb.Core.Messages;
using Esb.Endpoints.Http.Wire;
using Microsoft.Extensions.Primitives;

namespace Esb.Endpoints.Http.Relaying;

/// <summary>Which headers pass in one direction of a relay, and under which names. Thread-safe.</summary>
/// <param name="endpoints">Their lists hold where somebody wrote one: the default is meant for messages.</param>
/// <param name="rewrites">The endpoints' changes, in the order in which they are made.</param>
internal sealed class PassingHeaders(IReadOnlyList<EndpointConfig> endpoints, IReadOnlyList<HeaderRewrite> rewrites)
{
    private readonly HeaderRules[] _rules = [.. endpoints.Where(endpoint => !ReferenceEquals(endpoint.Headers, HeaderRules.DefaultPatterns)).Select(endpoint => new HeaderRules(endpoint.Headers))];
    private readonly HeaderRewrite[] _rewrites = [.. rewrites.Where(rewrite => !rewrite.IsEmpty)];

    /// <summary>The headers that are always there.</summary>
    public KeyValuePair<string, string>[] Set { get; } = [.. rewrites.Aggregate(MessageHeaders.Empty, (headers, rewrite) => rewrite.Apply(headers))];

    /// <summary>The name under which a header passes; null where it does not.</summary>
    /// <param name="name">Its name.</param>
    /// <param name="connection">What the sender's <c>Connection</c> says.</param>
    public string? NameOf(string name, StringValues connection)
    {
        if (HttpFields.EndsHere(name, connection) || HeaderRules.IsReserved(name) || !IsListed(name)) return null;
        var passed = name;
        foreach (var rewrite in _rewrites)
        {
            if (rewrite.NameOf(passed) is not { } next) return null;
            passed = next;
        }

        return passed;
    }

    private bool IsListed(string name)
    {
        foreach (var rules in _rules)
        {
            if (!rules.Allows(name) && !IsOfBody(name)) return false;
        }

        return true;
    }

    // They belong to the body, which passes as it is: nobody could read it without them.
    private static bool IsOfBody(string name) => name.Equals("Content-Type", StringComparison.OrdinalIgnoreCase) || name.Equals("Content-Encoding", StringComparison.OrdinalIgnoreCase);
}
