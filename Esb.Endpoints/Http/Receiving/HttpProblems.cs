using System.Diagnostics;
using System.Globalization;
using System.Text.Json;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.WebUtilities;

namespace Esb.Endpoints.Http.Receiving;

/// <summary>Answers that say what is wrong, as problem+json (RFC 9457), with our code and the trace; nothing of the inside.</summary>
internal static class HttpProblems
{
    public const string ContentType = "application/problem+json";

    private static readonly TimeSpan? RetryAfter = TimeSpan.FromSeconds(2);

    /// <summary>A failure that has a status of its own.</summary>
    public static EsbException Of(int status, string code, string detail, Exception? cause = null) => new(code, detail, KindOf(status), cause) { Status = status };

    /// <summary>Answers with a failure; where an answer has begun already, it is broken off, so that nobody takes it for complete.</summary>
    public static async Task WriteAsync(HttpContext context, EsbException failure)
    {
        if (context.Response.HasStarted || context.RequestAborted.IsCancellationRequested)
        {
            context.Abort();
            return;
        }

        var response = context.Response;
        response.StatusCode = failure.Status ?? Faults.StatusOf(failure.Kind);
        response.ContentType = ContentType;
        var wait = failure.RetryAfter ?? (response.StatusCode == StatusCodes.Status503ServiceUnavailable ? RetryAfter : null);
        if (wait is not null) response.Headers.RetryAfter = Seconds(wait.Value);
        if (IsUnreadable(failure, response.StatusCode)) response.Headers.Connection = "close"; // what is left of the body is not waited for
        var body = Describe(response.StatusCode, failure.Code, failure.Message, Activity.Current?.TraceId.ToHexString() ?? context.TraceIdentifier);
        response.ContentLength = body.Length;
        await response.Body.WriteAsync(body, CancellationToken.None); // to a caller that hangs up now, the server writes nothing
    }

    /// <summary>The body of such an answer.</summary>
    public static byte[] Describe(int status, string code, string detail, string traceId) =>
        JsonSerializer.SerializeToUtf8Bytes(new { title = ReasonPhrases.GetReasonPhrase(status), status, detail, code, traceId }, JsonStyle.Readable);

    private static string Seconds(TimeSpan wait) => Math.Max(1, (long)Math.Ceiling(wait.TotalSeconds)).ToString(CultureInfo.InvariantCulture);

    private static bool IsUnreadable(EsbException failure, int status) =>
        status is StatusCodes.Status413PayloadTooLarge or StatusCodes.Status408RequestTimeout || failure.InnerException is BadHttpRequestException;

    private static FaultKind KindOf(int status) => status switch
    {
        StatusCodes.Status413PayloadTooLarge => FaultKind.TooLarge,
        StatusCodes.Status503ServiceUnavailable => FaultKind.Unavailable,
        StatusCodes.Status504GatewayTimeout => FaultKind.Timeout,
        StatusCodes.Status502BadGateway => FaultKind.Outside,
        < 500 => FaultKind.Malformed,
        _ => FaultKind.Internal,
    };
}
