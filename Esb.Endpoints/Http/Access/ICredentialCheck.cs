using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http.Access;

/// <summary>Identifies callers by one kind of credential in the head of a request. Thread-safe.</summary>
internal interface ICredentialCheck
{
    /// <summary>The challenge sent to a caller without the credential (RFC 9110, section 11.6.1).</summary>
    string Challenge { get; }

    /// <summary>Identifies the caller.</summary>
    ValueTask<Verdict> IdentifyAsync(HttpContext context);
}
