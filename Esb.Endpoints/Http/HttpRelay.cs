using Esb.Core.Errors;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;

namespace Esb.Endpoints.Http;

/// <summary>Passes one request at a time on to the outside, and its answer back, body by body as they come.</summary>
internal sealed class HttpRelay(HttpTarget target, TimeProvider time)
{
    /// <param name="context">The request and its answer.</param>
    /// <param name="headers">Which headers pass.</param>
    /// <param name="patience">How long the outside may be silent.</param>
    /// <exception cref="EsbException">There was no answer, or the caller's request is not complete.</exception>
    public async Task RelayAsync(HttpContext context, RelayHeaders headers, TimeSpan patience)
    {
        using var silence = new SilenceTimeout(patience, time, context.RequestAborted);
        try
        {
            using var request = Compose(context, headers, silence);
            using var response = await target.Client.SendAsync(request, silence.Token);
            await AnswerAsync(context.Response, response, headers, silence);
        }
        catch (Exception ex) when (Explain(ex, silence, context) is { } failure)
        {
            if (!context.Response.HasStarted) context.Response.Clear();
            throw failure;
        }
    }

    private HttpRequestMessage Compose(HttpContext context, RelayHeaders headers, SilenceTimeout silence)
    {
        var request = new HttpRequestMessage(HttpMethod.Parse(context.Request.Method), UrlOf(context.Request.QueryString));
        if (context.Features.Get<IHttpRequestBodyDetectionFeature>()?.CanHaveBody == true)
            request.Content = new RelayContent(context.Request.Body, context.Request.ContentLength, silence);
        headers.CopyTo(request, context.Request.Headers);
        return request;
    }

    private Uri UrlOf(QueryString query)
    {
        if (!query.HasValue) return target.Url;
        return new Uri(target.Url.Query.Length == 0 ? $"{target.Url}{query.Value}" : $"{target.Url}&{query.Value.AsSpan(1)}");
    }

    private static async Task AnswerAsync(HttpResponse answer, HttpResponseMessage response, RelayHeaders headers, SilenceTimeout silence)
    {
        answer.StatusCode = (int)response.StatusCode;
        headers.CopyTo(answer, response);
        if (answer.StatusCode is not (StatusCodes.Status204NoContent or StatusCodes.Status205ResetContent)) answer.ContentLength = response.Content.Headers.ContentLength;
        await using var body = await response.Content.ReadAsStreamAsync(silence.Token);
        await RelayCopy.ToCallerAsync(body, answer.Body, silence);
    }

    // Null for what is none of HTTP's failures: it goes on as it is.
    private EsbException? Explain(Exception exception, SilenceTimeout silence, HttpContext context)
    {
        if (exception is EsbException || context.RequestAborted.IsCancellationRequested) return null;
        if (silence.HasElapsed) return new EsbException("ESB-HTTP-TIMEOUT", $"The endpoint '{target.Name}' did not answer in time.", FaultKind.Timeout, exception);
        if (FindBadRequest(exception) is { } bad) return HttpContentRules.Explain(bad, context);
        return HttpFailures.Of(target.Name, exception, silence.Token);
    }

    // The caller's body is read while it is sent, so its faults come wrapped in those of sending.
    private static BadHttpRequestException? FindBadRequest(Exception? exception)
    {
        while (exception is not (null or BadHttpRequestException)) exception = exception.InnerException;
        return (BadHttpRequestException?)exception;
    }
}
