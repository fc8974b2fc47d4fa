using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http.Access;

/// <summary>Tells from the head of a request whose credential of one kind it carries. Thread-safe.</summary>
internal interface ICredentialCheck
{
    /// <summary>What a caller without it is asked for (RFC 9110, section 11.6.1).</summary>
    string Challenge { get; }

    /// <summary>Who the caller is.</summary>
    ValueTask<Verdict> IdentifyAsync(HttpContext context);
}
