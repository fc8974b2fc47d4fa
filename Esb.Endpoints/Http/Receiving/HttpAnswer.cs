using Esb.Core.Messages;
using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http.Receiving;

/// <summary>The answer of an endpoint that has accepted a message.</summary>
/// <param name="Status">The status.</param>
/// <param name="ContentType">The content type of the body.</param>
/// <param name="Headers">The headers of the message.</param>
/// <param name="Body">The body; null for none.</param>
internal sealed record HttpAnswer(int Status, string? ContentType, IReadOnlyList<KeyValuePair<string, string>> Headers, MessageBody? Body)
{
    public async Task WriteAsync(HttpContext context)
    {
        var response = context.Response;
        response.StatusCode = Status;
        for (var i = 0; i < Headers.Count; i++) // without an enumerator
            response.Headers[Headers[i].Key] = Headers[i].Value;
        if (Body is null)
            return;
        response.ContentType = ContentType;
        response.ContentLength = Body.Length;
        if (Body.Length != 0)
            await Body.CopyToAsync(response.Body, context.RequestAborted);
    }
}
