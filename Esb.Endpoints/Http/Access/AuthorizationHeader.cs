using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http.Access;

/// <summary>The header <c>Authorization</c>: a scheme and its credentials (RFC 9110, section 11.6.2).</summary>
internal static class AuthorizationHeader
{
    /// <summary>Reads the credentials of a scheme.</summary>
    /// <param name="request">The request.</param>
    /// <param name="scheme">The scheme; case-insensitive.</param>
    /// <param name="credentials">The credentials after the scheme.</param>
    /// <returns><see cref="Denial.None"/>; <see cref="Denial.Missing"/> if there is another scheme or none; <see cref="Denial.Malformed"/>
    /// if the header is repeated or the credentials are empty.</returns>
    public static Denial Read(HttpRequest request, string scheme, out ReadOnlyMemory<char> credentials)
    {
        credentials = default;
        var values = request.Headers.Authorization;
        if (values.Count == 0)
            return Denial.Missing;
        if (values.Count > 1 || values[0] is not { } value)
            return Denial.Malformed;
        if (!value.StartsWith(scheme, StringComparison.OrdinalIgnoreCase))
            return Denial.Missing;
        if (value.Length == scheme.Length)
            return Denial.Malformed;
        if (value[scheme.Length] != ' ')
            return Denial.Missing;
        credentials = value.AsMemory(scheme.Length).Trim(' ');
        return credentials.IsEmpty ? Denial.Malformed : Denial.None;
    }
}
