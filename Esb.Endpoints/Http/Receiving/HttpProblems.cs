using System.Diagnostics;
using System.Globalization;
using System.Text.Json;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Endpoints.Http.Refusals;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.WebUtilities;

namespace Esb.Endpoints.Http.Receiving;

/// <summary>Error answers as problem+json (RFC 9457), with the bus's code and the trace, without internals.</summary>
internal sealed class HttpProblems : IFailureAnswers
{
    public const string ContentType = "application/problem+json";

    /// <summary>The form of endpoints whose protocol has no other.</summary>
    public static readonly IFailureAnswers Instance = new HttpProblems();

    private static readonly TimeSpan? RetryAfter = TimeSpan.FromSeconds(2);

    /// <summary>Creates a failure with its own status.</summary>
    public static EsbException Of(int status, string code, string detail, Exception? cause = null) =>
        new(code, detail, KindOf(status), cause) { Status = status };

    /// <summary>Answers with a failure. Aborts an answer that has already started, so that the caller does not take it for
    /// complete.</summary>
    public static async Task WriteAsync(HttpContext context, EsbException failure, IFailureAnswers answers)
    {
        if (context.Response.HasStarted || context.RequestAborted.IsCancellationRequested)
        {
            context.Abort();
            return;
        }

        var response = context.Response;
        var answer = answers.Describe(
            context,
            failure,
            failure.Status ?? Faults.StatusOf(failure.Kind),
            Activity.Current?.TraceId.ToHexString() ?? context.TraceIdentifier
        );
        response.StatusCode = answer.Status;
        response.ContentType = answer.ContentType;
        var wait = failure.RetryAfter ?? (response.StatusCode == StatusCodes.Status503ServiceUnavailable ? RetryAfter : null);
        if (wait is not null)
            response.Headers.RetryAfter = Seconds(wait.Value);
        if (IsUnreadable(failure, response.StatusCode))
            response.Headers.Connection = "close"; // does not wait for the rest of the body
        response.ContentLength = answer.Body.Length;
        await response.Body.WriteAsync(answer.Body, CancellationToken.None); // the server writes nothing to a disconnected caller
    }

    /// <inheritdoc/>
    public FailureAnswer Describe(HttpContext context, EsbException failure, int status, string traceId) =>
        new(status, ContentType, Describe(status, failure.Code, failure.Message, traceId));

    /// <summary>Creates the body of such an answer.</summary>
    public static byte[] Describe(int status, string code, string detail, string traceId) =>
        JsonSerializer.SerializeToUtf8Bytes(
            new
            {
                title = ReasonPhrases.GetReasonPhrase(status),
                status,
                detail,
                code,
                traceId,
            },
            JsonStyle.Readable
        );

    private static string Seconds(TimeSpan wait) =>
        Math.Max(1, (long)Math.Ceiling(wait.TotalSeconds)).ToString(CultureInfo.InvariantCulture);

    private static bool IsUnreadable(EsbException failure, int status) =>
        status is StatusCodes.Status413PayloadTooLarge or StatusCodes.Status408RequestTimeout
        || failure.InnerException is BadHttpRequestException;

    private static FaultKind KindOf(int status) =>
        status switch
        {
            StatusCodes.Status413PayloadTooLarge => FaultKind.TooLarge,
            StatusCodes.Status503ServiceUnavailable => FaultKind.Unavailable,
            StatusCodes.Status504GatewayTimeout => FaultKind.Timeout,
            StatusCodes.Status502BadGateway => FaultKind.Outside,
            < 500 => FaultKind.Malformed,
            _ => FaultKind.Internal,
        };
}
