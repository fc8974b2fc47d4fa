using Esb.Configuration;
using Esb.Core.Messages;

namespace Esb.Endpoints.Http.Wire;

/// <summary>The HTTP methods that endpoints use; case-sensitive (RFC 9110, section 9.1).</summary>
internal static class HttpMethodNames
{
    public static readonly IReadOnlyList<string> All = CallRequest.Methods;

    public static bool IsKnown(string method) => All.Contains(method);

    /// <summary>True if a request of the method is sent with a body even if the body is empty.</summary>
    public static bool HasBody(string method) => method is "POST" or "PUT" or "PATCH";

    /// <summary>False if a body has no meaning to the method (RFC 9110, section 9.3.1): servers may refuse it, so it is not sent.</summary>
    public static bool MayHaveBody(string method) => method is not ("GET" or "HEAD");

    /// <summary>True if the method may change something (RFC 9110, section 9.2.1).</summary>
    public static bool HasEffect(string method) => method is not ("GET" or "HEAD" or "OPTIONS");

    public static string Expected(string written) => $"expected one of {string.Join(", ", All)}{NearestName.Hint(written, All)}";
}
