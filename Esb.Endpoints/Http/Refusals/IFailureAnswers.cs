using Esb.Core.Errors;
using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http.Refusals;

/// <summary>The form in which the callers of an endpoint are told of failures. Thread-safe.</summary>
internal interface IFailureAnswers
{
    /// <summary>Describes a failure.</summary>
    /// <param name="context">The request.</param>
    /// <param name="failure">The failure.</param>
    /// <param name="status">The HTTP status of the failure.</param>
    /// <param name="traceId">Identifies the request in telemetry.</param>
    FailureAnswer Describe(HttpContext context, EsbException failure, int status, string traceId);
}

/// <summary>An answer that tells of a failure.</summary>
/// <param name="Status">The HTTP status.</param>
/// <param name="ContentType">The content type.</param>
/// <param name="Body">The body.</param>
internal readonly record struct FailureAnswer(int Status, string ContentType, byte[] Body);
