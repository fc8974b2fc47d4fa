using Esb.Core.Errors;
using Esb.Endpoints.Http.Access;
using Esb.Endpoints.Http.Receiving;
using Esb.Endpoints.Soap.Envelopes;
using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Soap.Security;

/// <summary>Admits callers by the user name token in their envelope. Thread-safe.</summary>
internal sealed class TokenGate(UsernameTokenCheck check, EndpointAccess access)
{
    /// <summary>Admits a caller.</summary>
    /// <returns>The name of its party.</returns>
    /// <exception cref="EsbException"><c>ESB-SOAP-SECURITY</c>: the caller is unknown, which has one text for all reasons. Otherwise as
    /// <see cref="EndpointAccess.AdmitAsync"/>.</exception>
    public async ValueTask<string> AdmitAsync(HttpContext context, SoapEnvelope envelope)
    {
        const string code = "ESB-SOAP-SECURITY";
        access.RequireUnguessed(context);
        var verdict = check.Identify(envelope);
        if (verdict.Party is not { } party)
        {
            if (verdict.Denial == Denial.Unknown)
                access.CountWrong(context);
            access.Deny(context, verdict.Denial, code);
            throw HttpProblems.Of(StatusCodes.Status401Unauthorized, code, "The caller has not proved who it is.");
        }

        await access.AdmitAsync(context, party);
        return party.Name;
    }
}
