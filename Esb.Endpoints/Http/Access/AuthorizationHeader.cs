using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http.Access;

/// <summary>The header <c>Authorization</c>: a scheme and what belongs to it (RFC 9110, section 11.6.2).</summary>
internal static class AuthorizationHeader
{
    /// <summary>What stands behind a scheme.</summary>
    /// <param name="request">The request.</param>
    /// <param name="scheme">The scheme, whose case does not matter.</param>
    /// <param name="credentials">What stands behind it.</param>
    /// <returns><see cref="Denial.None"/>; <see cref="Denial.Missing"/> where there is another scheme or none; <see cref="Denial.Malformed"/> where the header comes twice, or nothing stands there.</returns>
    public static Denial Read(HttpRequest request, string scheme, out ReadOnlyMemory<char> credentials)
    {
        credentials = default;
        var values = request.Headers.Authorization;
        if (values.Count == 0) return Denial.Missing;
        if (values.Count > 1 || values[0] is not { } value) return Denial.Malformed;
        if (!value.StartsWith(scheme, StringComparison.OrdinalIgnoreCase)) return Denial.Missing;
        if (value.Length == scheme.Length) return Denial.Malformed;
        if (value[scheme.Length] != ' ') return Denial.Missing;
        credentials = value.AsMemory(scheme.Length).Trim(' ');
        return credentials.IsEmpty ? Denial.Malformed : Denial.None;
    }
}
