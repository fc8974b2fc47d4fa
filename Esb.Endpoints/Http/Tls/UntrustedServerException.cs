using System.Security.Authentication;

namespace Esb.Endpoints.Http.Tls;

/// <summary>A check of the server of an http-outbound endpoint failed; the message names the check.</summary>
internal sealed class UntrustedServerException(string fault) : AuthenticationException(fault);
