using System.Security.Authentication;

namespace Esb.Endpoints.Http.Tls;

/// <summary>The server of an http-outbound endpoint did not pass a check, and which.</summary>
internal sealed class UntrustedServerException(string fault) : AuthenticationException(fault);
