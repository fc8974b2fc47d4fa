using System.Globalization;
using System.Net.Http.Headers;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Endpoints.Http.Wire;

namespace Esb.Endpoints.Http.Sending;

/// <summary>Converts answers of external systems to messages, and classifies failures.</summary>
internal static class HttpAnswers
{
    /// <summary>The field that says when to ask again.</summary>
    public const string RetryAfter = "Retry-After";
    private static readonly TimeSpan LongestWait = TimeSpan.FromHours(24);

    /// <summary>Converts the answer to a message, with its status in the header <see cref="EsbHeaders.Status"/>.</summary>
    public static EsbMessage Read(EsbMessage request, HttpResponseMessage response, MessageBody body, HeaderRules rules, TimeProvider time)
    {
        var headers = rules
            .Admit(HeadersOf(response), out _)
            .With(EsbHeaders.Status, ((int)response.StatusCode).ToString(CultureInfo.InvariantCulture));
        if (response.Headers.RetryAfter is { } wait)
            headers = headers.With(RetryAfter, wait.ToString()); // the delivery honours it
        return request.Reply(body, time) with { ContentType = ContentTypeOf(response), Headers = headers };
    }

    // As for other headers, null if the value is more than one line of text.
    private static string? ContentTypeOf(HttpResponseMessage response) =>
        response.Content.Headers.NonValidated.TryGetValues("Content-Type", out var type)
        && type.ToString() is var text
        && HeaderRules.IsValue(text)
            ? text
            : null;

    /// <summary>Returns the failure indicated by the answer to a delivered message; null for a success.</summary>
    public static EndpointException? FailureOf(string endpoint, EsbMessage answer)
    {
        if (
            answer.Headers[EsbHeaders.Status] is not { } text
            || int.Parse(text, CultureInfo.InvariantCulture) is not (var status and (< 200 or > 299))
        )
            return null;
        var isTransient = status is 408 or 429 or >= 500;
        return new EndpointException(
            endpoint,
            "ESB-HTTP-STATUS",
            $"The endpoint '{endpoint}' was answered with status {status}.",
            isTransient
        )
        {
            Answer = answer,
            RetryAfter = WaitOf(answer),
            // a proxy answers these if its servers are down; a 500 comes from a working server and may concern the message
            IsTurnedAway = status is 429 or 502 or 503 or 504,
        };
    }

    /// <summary>True if the body is still packed; unpacked encodings are no longer named.</summary>
    public static bool IsPacked(HttpResponseMessage response) =>
        response.Content.Headers.ContentEncoding.Any(coding => !coding.Equals("identity", StringComparison.OrdinalIgnoreCase));

    /// <summary>True if a body could not be unpacked; Brotli reports damaged data as an error of its caller.</summary>
    public static bool IsDamage(Exception exception) =>
        exception is InvalidDataException or (InvalidOperationException and not ObjectDisposedException);

    private static IEnumerable<KeyValuePair<string, string>> HeadersOf(HttpResponseMessage response)
    {
        var connection = new Microsoft.Extensions.Primitives.StringValues([.. response.Headers.Connection]);
        foreach (var (name, values) in response.Headers.NonValidated.Concat(response.Content.Headers.NonValidated))
        {
            if (HttpFields.EndsHere(name, connection) || HttpFields.IsOfContent(name))
                continue;
            foreach (var value in values)
                yield return new(name, value);
        }
    }

    // A date is relative to the arrival of the answer.
    private static TimeSpan? WaitOf(EsbMessage answer)
    {
        if (answer.Headers[RetryAfter] is not { } text || !RetryConditionHeaderValue.TryParse(text, out var wait))
            return null;
        var delay = wait.Delta ?? wait.Date - answer.CreatedAt ?? TimeSpan.Zero;
        if (delay < TimeSpan.Zero)
            return TimeSpan.Zero;
        return delay < LongestWait ? delay : LongestWait;
    }
}
