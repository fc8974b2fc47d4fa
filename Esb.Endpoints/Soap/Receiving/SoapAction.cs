using Esb.Content.Wsdl;
using Esb.Core.Errors;
using Esb.Endpoints.Http.Wire;
using Microsoft.AspNetCore.Http;
using Microsoft.Net.Http.Headers;

namespace Esb.Endpoints.Soap.Receiving;

/// <summary>The action of a request: SOAPAction (SOAP 1.1, section 6.1.1), or the parameter action of the content type (RFC 3902). It never
/// chooses an operation; one that contradicts the child of Body is refused.</summary>
internal static class SoapAction
{
    private const string Header = "SOAPAction";

    /// <summary>Reads the action; empty if there is none.</summary>
    public static string Read(HttpRequest request)
    {
        if (
            MediaTypeHeaderValue.TryParse(request.ContentType, out var type)
            && type.Parameters.FirstOrDefault(parameter => parameter.Name.Equals("action", StringComparison.OrdinalIgnoreCase))
                is { } action
        )
            return action.GetUnescapedValue().ToString().Trim();
        var values = request.Headers[Header];
        if (values.Count > 1)
            throw HttpContentRules.Duplicate(Header);
        return values.ToString().Trim().Trim('"').Trim();
    }

    /// <exception cref="EsbException"><c>ESB-SOAP-ACTION</c>.</exception>
    public static void Require(string action, WsdlOperation operation, IReadOnlyList<WsdlOperation> all)
    {
        if (action.Length == 0 || operation.Actions.Contains(action) || operation.AddressingActions.Contains(action))
            return;
        // Where the WSDL declares none, callers may say what they like, if it does not mean another operation.
        if (operation.Actions.Count == 0 && !all.Any(other => other.Actions.Contains(action) || other.AddressingActions.Contains(action)))
            return;
        throw new EsbException(
            "ESB-SOAP-ACTION",
            $"The action of the request is not that of the operation {operation.Name}, which the child of Body stands for.",
            FaultKind.Malformed
        );
    }
}
