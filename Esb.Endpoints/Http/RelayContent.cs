using System.Net;
using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http;

/// <summary>The body of a relayed request: read from the caller as it is written to the outside.</summary>
internal sealed class RelayContent(HttpContext caller, SilenceTimeout silence) : HttpContent
{
    protected override Task SerializeToStreamAsync(Stream stream, TransportContext? context) => RelayCopy.ToOutsideAsync(caller, stream, silence);

    protected override Task SerializeToStreamAsync(Stream stream, TransportContext? context, CancellationToken cancellationToken) => RelayCopy.ToOutsideAsync(caller, stream, silence);

    protected override bool TryComputeLength(out long computed)
    {
        computed = caller.Request.ContentLength ?? 0;
        return caller.Request.ContentLength is not null;
    }
}
