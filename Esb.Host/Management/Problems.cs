using System.Diagnostics;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Microsoft.AspNetCore.Mvc;

namespace Esb.Host.Management;

/// <summary>Error responses as problem+json (RFC 9457), with the error code and the trace.</summary>
internal static class Problems
{
    /// <summary>An error response to a request.</summary>
    public static IResult Of(int status, string code, string detail) =>
        TypedResults.Problem(
            new ProblemDetails
            {
                Status = status,
                Detail = detail,
                Extensions = { ["code"] = code, ["traceId"] = Activity.Current?.TraceId.ToHexString() },
            }
        );

    /// <summary>The refusal of a configuration while another one runs.</summary>
    public static IResult Refused(ConfigurationRefusedException refusal)
    {
        var codes = refusal.Errors.Select(error => error.Code).Distinct().ToList();
        var lines = string.Join('\n', refusal.Errors.Select(error => $"  {error.Code}  {error.Describe()}"));
        return Of(
            StatusCodes.Status422UnprocessableEntity,
            codes is [var only] ? only : "ESB-CONFIG-REFUSED",
            $"The configuration is refused; what runs keeps running.\n{lines}"
        );
    }

    /// <summary>An invalid request parameter.</summary>
    public static EsbException Parameter(string name, string expected) =>
        new("ESB-API-PARAMETER", $"{name}: {expected}.", FaultKind.Malformed);

    /// <summary>The id in the path; throws if it is not valid.</summary>
    public static Guid RequireId(string id) => Guid.TryParse(id, out var parsed) ? parsed : throw Parameter("id", "expected a UUID");

    /// <summary>A resource named in the path that does not exist.</summary>
    public static EsbException NotFound(string what) =>
        new("ESB-API-NOTFOUND", what, FaultKind.Malformed) { Status = StatusCodes.Status404NotFound };
}
