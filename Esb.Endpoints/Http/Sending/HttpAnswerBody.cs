using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Endpoints.Http.Sending;

/// <summary>Reads the bodies of answers of external systems.</summary>
internal static class HttpAnswerBody
{
    /// <summary>Reads the whole body.</summary>
    /// <param name="endpoint">The endpoint's name.</param>
    /// <param name="method">The method of the request.</param>
    /// <param name="response">The answer.</param>
    /// <param name="maxBytes">The largest body.</param>
    /// <param name="cancellationToken">Cancels reading.</param>
    /// <exception cref="EndpointException"><c>ESB-HTTP-ANSWERSIZE</c>, <c>ESB-HTTP-DECODE</c> or <c>ESB-HTTP-ENCODING</c>.</exception>
    public static async Task<MessageBody> ReadAsync(
        string endpoint,
        HttpMethod method,
        HttpResponseMessage response,
        long maxBytes,
        CancellationToken cancellationToken
    )
    {
        await using var stream = await response.Content.ReadAsStreamAsync(cancellationToken);
        var body = MessageBody.FromStream(stream, method == HttpMethod.Head ? null : response.Content.Headers.ContentLength);
        try
        {
            await body.BufferAsync(maxBytes, cancellationToken);
        }
        catch (EsbException ex)
        {
            throw Unusable(endpoint, "ESB-HTTP-ANSWERSIZE", $"is larger than {maxBytes} bytes", ex);
        }
        catch (Exception ex) when (HttpAnswers.IsDamage(ex))
        {
            throw Unusable(endpoint, "ESB-HTTP-DECODE", "says that it is packed, but is damaged", ex);
        }

        if (body.Length > 0 && HttpAnswers.IsPacked(response))
            throw Unusable(endpoint, "ESB-HTTP-ENCODING", "is packed in a way that it was not asked for");
        return body;
    }

    private static EndpointException Unusable(string endpoint, string code, string flaw, Exception? cause = null) =>
        new(endpoint, code, $"The answer of the endpoint '{endpoint}' {flaw}.", isTransient: false, cause);
}
