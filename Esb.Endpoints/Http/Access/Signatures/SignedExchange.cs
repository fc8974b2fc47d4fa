using System.Runtime.InteropServices;
using Esb.Core.Messages;
using Esb.Endpoints.Http.Receiving;
using Esb.Endpoints.Http.Wire;
using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http.Access.Signatures;

/// <summary>Reads the whole body and verifies its signature before the request is processed. The request holds a slot of the endpoint by
/// then, which bounds the number of buffered bodies.</summary>
internal sealed class SignedExchange(IHttpExchange inner, SignatureCheck check, EndpointAccess access, long maxBodyBytes) : IHttpExchange
{
    private static readonly AcceptedTypes Any = new([]);

    public async Task HandleAsync(HttpContext context, CancellationToken aborting)
    {
        var denial = check.Read(context.Request, out var head);
        if (denial != Denial.None)
            throw Refuse(context, denial);
        var verdict = check.Verify(head, (await ReadBodyAsync(context)).Span);
        if (verdict.Party is not { } party)
            throw Refuse(context, verdict.Denial);
        await access.AdmitAsync(context, party);
        await inner.HandleAsync(context, aborting);
    }

    // Later readers get the same bytes.
    private async Task<ReadOnlyMemory<byte>> ReadBodyAsync(HttpContext context)
    {
        HttpContentRules.Require(context, Any, maxBodyBytes);
        var body = MessageBody.FromStream(context.Request.Body, context.Request.ContentLength);
        try
        {
            var bytes = await body.BufferAsync(maxBodyBytes, CancellationToken.None);
            if (MemoryMarshal.TryGetArray(bytes, out var array))
                context.Request.Body = new MemoryStream(array.Array!, array.Offset, array.Count, writable: false);
            return bytes;
        }
        catch (IOException ex)
        {
            throw HttpContentRules.Explain(ex, context);
        }
    }

    private Core.Errors.EsbException Refuse(HttpContext context, Denial denial)
    {
        const string code = "ESB-HTTP-SIGNATURE";
        access.Deny(context, denial, code);
        context.Response.Headers.WWWAuthenticate = "Signature";
        return HttpProblems.Of(StatusCodes.Status401Unauthorized, code, "The request is not signed as agreed.");
    }
}
